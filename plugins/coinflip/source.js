// The lowest bit of the random word: 0 stands for false, 1 for true.
return Functions.encodeUint256(BigInt(bytesArgs[0]) & 1n);
