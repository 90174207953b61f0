/** Returns a module that shifts the wall clock of the process that imports it: always, or from each other signal `onSignal` on. */
export function clockModule(shiftMs: number, onSignal?: NodeJS.Signals): string {
  const code =
    `const D=Date;let isMoved=${onSignal === undefined};const now=()=>D.now()+(isMoved?${shiftMs}:0);` +
    (onSignal === undefined ? "" : `process.on("${onSignal}",()=>{isMoved=!isMoved});`) +
    "globalThis.Date=new Proxy(D,{construct:(t,a,n)=>Reflect.construct(t,a.length===0?[now()]:a,n===globalThis.Date?t:n)," +
    "apply:()=>new D(now()).toString(),get:(t,k)=>k==='now'?now:Reflect.get(t,k)});";
  return `data:text/javascript;base64,${Buffer.from(code).toString("base64")}`;
}
