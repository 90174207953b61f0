import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { createGateway, createGatewayNetwork } from "../../../src/oracle/secrets/gateway.ts";
import { encodeGatewayBody, type GatewayBody } from "../../../src/oracle/secrets/gatewayMessage.ts";
import { createReportSigner } from "../../../src/oracle/signer.ts";

test.each([
  ["1\0", "1"],
  ["\ud800", "\ufffd"],
])("a message is not taken twice, nor as %j, which is signed as %j is", async (copied, id) => {
  const operator = privateKeyToAccount(generatePrivateKey());
  let drops = 0;
  const network = createGatewayNetwork({
    vault: { take: async () => {}, list: async () => [] },
    holder: {
      keep: async () => {},
      drop: async () => void (drops += 1),
      describe: async () => [],
      run: () => Promise.reject(new Error("no run")),
    },
    authority: { isService: async () => true },
    signers: [createReportSigner(Buffer.alloc(32, 1))],
  });
  const gateway = createGateway({ find: () => [network], onError: () => expect.unreachable() });
  const signed: GatewayBody = {
    message_id: id,
    method: "operator_drop",
    don_id: "fun",
    receiver: "",
    payload: { validUntil: Date.now() + 60_000, slotIds: [1] },
  };
  const signature = await operator.signMessage({ message: { raw: encodeGatewayBody(signed) } });
  const send = (as: string) => {
    const body = { ...signed, message_id: as };
    return gateway.answer(
      JSON.stringify({ jsonrpc: "2.0", id: as, params: { body, signature } }),
      "somebody",
    );
  };
  const success = { result: { body: { payload: { success: true } } } };
  const refusal = (reason: string) => ({ error: { message: expect.stringContaining(reason) } });
  expect(await send(id)).toMatchObject(success);
  expect(await send(id)).toMatchObject(refusal("was taken before"));
  expect(await send(copied)).toMatchObject(refusal("must be a JSON-RPC request"));
  expect(drops).toBe(1);
});
