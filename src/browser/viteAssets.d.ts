/** What Vite makes of an import with `?raw`: the file's text. */
declare module "*?raw" {
  const text: string;
  export default text;
}

declare module "*.css";
