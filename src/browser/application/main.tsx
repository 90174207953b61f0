/** Starts the application in its page. */
import { createRoot } from "react-dom/client";
import { ConnectionError } from "../../client/index.ts";
import { Application } from "./application.tsx";
import { noteExchange } from "./connection.ts";
import { openSession } from "./session.ts";

const RETRY_MS = 2_000;

const host = document.querySelector("#application");
if (host !== null) createRoot(host).render(<Application />);
void keepTrying();

/** No page can be shown until the service has said who we are. */
async function keepTrying(): Promise<void> {
  try {
    await openSession();
    noteExchange();
  } catch {
    noteExchange(new ConnectionError("the service can't be reached"));
    setTimeout(() => void keepTrying(), RETRY_MS);
  }
}
