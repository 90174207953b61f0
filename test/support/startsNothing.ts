import childProcess, { ChildProcess } from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
import { Server } from "node:net";

/** Refuses processes and ports: a unit test starts nothing, which keeps all of them together below a minute. */
function refuse(): never {
  throw new Error(
    "a unit test starts no process and listens on no port: name the file *.chain.test.ts (CONTRIBUTING.md, Tests)",
  );
}

Object.assign(ChildProcess.prototype, { spawn: refuse });
Server.prototype.listen = refuse;
Object.assign(childProcess, { spawnSync: refuse, execFileSync: refuse, execSync: refuse });
syncBuiltinESMExports();
