/** Mines empty blocks, so many at a time that Anvil answers before a busy machine's client gives up. */
export async function mineBlocks(
  client: { request(method: string, parameters: readonly unknown[]): Promise<unknown> },
  count: number,
): Promise<void> {
  for (let mined = 0; mined < count; mined += 50) await client.request("anvil_mine", ["0x32"]);
}
