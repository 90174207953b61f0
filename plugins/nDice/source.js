// One draw for each die; a die shows 1 to faces.
import { createDraw } from "tyche:draw";

const [faces, dice] = args.map(BigInt);
const draw = createDraw(bytesArgs[0]);

const rolls = [];
while (rolls.length < dice) rolls.push(1n + draw(faces));
return Functions.encodeString("[" + rolls + "]");
