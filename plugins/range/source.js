// A whole number from min to max, both included.
import { createDraw } from "tyche:draw";

const [min, max] = args.map(BigInt);
const draw = createDraw(bytesArgs[0]);

return Functions.encodeInt256(min + draw(max - min + 1n));
