// eslint-disable-next-line typescript/triple-slash-reference -- as a source does it
/// <reference path="../../../sandbox/functions.d.ts" />
// Never run: `npm run typecheck` reads it, as an editor reads a source.
export async function source(): Promise<Uint8Array> {
  const [symbol = "BTC"] = args;
  const word = BigInt(bytesArgs[0] ?? "0x00");
  const answer = await Functions.makeHttpRequest<{ price: number }>({
    url: "https://api.example.org/",
    params: { symbol },
    headers: { authorization: `Bearer ${secrets["key"]}` },
  });
  if (answer.error) throw new Error(`${answer.code}: ${answer.message} ${answer.response?.status}`);
  const price: number = answer.data.price;
  // @ts-expect-error: a success has no code
  void answer.code;
  // @ts-expect-error: texts are not encoded as numbers
  Functions.encodeUint256("5");
  // @ts-expect-error: no such response type
  void Functions.makeHttpRequest({ url: "", responseType: "xml" });
  return word > 0n ? Functions.encodeInt256(-word) : Functions.encodeString(String(price));
}
