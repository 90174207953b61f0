/** TypeScript 6, from a package that brings no command `tsc`, which would stand beside that of version 7. */
export { ts as default } from "@ts-morph/common";
