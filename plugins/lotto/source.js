// The first winners of a Fisher-Yates shuffle of the list.
import { createDraw } from "tyche:draw";

const winners = Number(args[0]);
const list = JSON.parse(args[1]);
const draw = createDraw(bytesArgs[0]);

for (let i = 0; i < winners; i++) {
  const j = i + Number(draw(BigInt(list.length - i)));
  [list[i], list[j]] = [list[j], list[i]];
}
return Functions.encodeString("Winners: " + list.slice(0, winners).join(", "));
