/** The text of a file imported with `?raw`, as Vite provides it. */
declare module "*?raw" {
  const text: string;
  export default text;
}

declare module "*.css";
