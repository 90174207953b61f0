/** Runs a Hardhat node that mines one block per second, in a process of its own, and prints its address. */
import { createHardhatRuntimeEnvironment } from "hardhat/hre";

const mining = { auto: false, interval: 1_000 };
const hardhat = await createHardhatRuntimeEnvironment({
  networks: { interval: { type: "edr-simulated", chainId: 31_337, mining } },
});
const server = await hardhat.network.createServer("interval", "127.0.0.1", 0);
const { port } = await server.listen();
console.log(`Listening on 127.0.0.1:${port}`);
