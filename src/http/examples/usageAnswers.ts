import type { Static } from "typebox";
import type { DryRunPage } from "../../requests/accept/dryRuns.ts";
import type { UsageReport } from "../../requests/read/usageReport.ts";
import type { ContractRequests } from "../routes/explorerViews.ts";
import { GAME_CONTRACT } from "./values.ts";

/** A dry run and a refused call. */
export const dryRunPage: DryRunPage = {
  items: [
    {
      id: "dry_01m87yrqj6b1ktrftcjatqvd5h",
      kind: "function",
      network: "sepolia",
      at: "2026-11-24T23:37:58.598Z",
      title: "const [price] = args;",
      success: false,
      parsedResult: "",
      err: "args[0] is not a number",
      console: "",
      line: 3,
      column: 9,
    },
    {
      id: "dry_01m87yrqd98w8c72qg1918r2rb",
      kind: "dry-run",
      network: "sepolia",
      at: "2026-11-24T23:37:58.441Z",
      title: "return Functions.encodeUint256(BigInt(args[0]) * 2n);",
      success: true,
      parsedResult: "42",
      err: "0x",
      console: "",
    },
  ],
  nextCursor: null,
};

/** Random numbers that a contract requested itself. */
export const contractRequestPage: Static<typeof ContractRequests> = {
  network: "sepolia",
  items: [
    {
      kind: "random",
      requestId: "0x1138d957c0e8e112f68556457d3bb02e42de4f23cbe557e985c393e9020faa5b",
      consumer: { address: GAME_CONTRACT },
      at: "2026-11-24T23:37:55.000Z",
      blockNumber: "30",
      transactionHash: "0xb19b3fd45d04ca099e7cb3113f766b738e300bd3f549820812842f157c941355",
      state: "fulfilled",
      answeredBy: "0xead70df828c1f14aaa2f7b70fd72866924f8aa5f091cdf6eb19fa2658fef708f",
      numWords: 3,
      words: [
        "110970025596595842096078280002921996546221524674961442853441011748765338164808",
        "55705822974490543080089959980998310439986449687206051384432245225684267426488",
        "8147259678950236775575344017298008910887815084496926578034213356819587482512",
      ],
    },
  ],
  searched: { from: "0", to: "43" },
  older: null,
};

/** Usage on one day. */
export const usageAnswer: UsageReport = {
  from: "2026-10-26",
  to: "2026-11-24",
  items: [
    {
      day: "2026-11-24",
      network: "sepolia",
      requests: { preset: 2, function: 2, random: 2, consumer: 2, unlink: 0 },
      fulfilled: 8,
      failed: 0,
      refused: 1,
      dryRuns: 1,
      words: 8,
      gasUsed: "806824",
      linkJuels: "1263261200000000000",
      coinWei: "0",
      toppedUpJuels: "6200000000000000000",
      toppedUpWei: "0",
    },
  ],
};
