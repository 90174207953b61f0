import type { Page } from "playwright-core";
import { readOperatorToken } from "../../support/signIn.ts";

type RunningService = Parameters<typeof readOperatorToken>[0] & { readonly url: string };

/** Fills in the form that asks who is there. */
export async function enter(page: Page, service: RunningService): Promise<void> {
  await page.getByLabel("Operator token").fill(readOperatorToken(service));
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** Opens the application and signs in as the page asks; ends on the home page. */
export async function signInOn(page: Page, service: RunningService): Promise<void> {
  await page.goto(service.url);
  await enter(page, service);
  await page.getByRole("heading", { name: "Dapps", exact: true }).waitFor();
}
