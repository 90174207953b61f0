import { afterAll, beforeAll, expect, test } from "vitest";
import { createSandboxPool, HostCallRefusal, type SandboxPool } from "../../sandbox/index.ts";

let pool: SandboxPool;
const asked: string[] = [];
beforeAll(async () => {
  pool = createSandboxPool({
    concurrency: 1,
    hostCalls: {
      import: async (request, { usage }) => {
        const { specifier } = JSON.parse(Buffer.from(request).toString()) as { specifier: string };
        asked.push(specifier);
        usage.imports += 1;
        if (specifier === "npm:broken") return Buffer.from("export const = 1");
        if (specifier === "npm:throws") return Buffer.from("throw new RangeError('at load')");
        if (specifier.startsWith("https://no."))
          throw new HostCallRefusal(`Module not found "${specifier}"`, "TypeError");
        if (specifier === "npm:fault") throw new Error("secret of the host");
        return Buffer.from(`export const name = ${JSON.stringify(specifier)}; export default (n) => n + 1;`);
      },
    },
  });
  await pool.ready();
});
afterAll(() => pool.close());

const show = async (source: string) => {
  const result = await pool.run({ source });
  return result.ok ? Buffer.from(result.bytes).toString() : result.error;
};

test("import() gives the module that the host found", async () => {
  expect(
    await show("const m = await import('npm:one'); return Functions.encodeString(m.name + m.default(1))"),
  ).toBe("npm:one2");
});

test("the same module twice is the same object", async () => {
  expect(
    await show(
      "const [a, b] = await Promise.all([import('npm:x'), import('npm:x')]); return Functions.encodeString(String(a === b))",
    ),
  ).toBe("true");
});

test("only the keyword is replaced, not a text, property or comment", async () => {
  const source =
    "const o = { import: 'p', f() { return 'import(x)' } }; /* import(y) */ const r = /import('z')/.source; const t = `import(${'q'})`;" +
    "return Functions.encodeString([o.import, o.f(), r, t, o?.import].join())";
  expect(await show(source)).toBe("p,import(x),import('z'),import(q),p");
  expect(asked).not.toContain("x");
});

test("positions after an import and after types stay the caller's", async () => {
  expect(await show("await import('npm:one'); throw new Error('x')")).toMatchObject({ line: 1, column: 32 });
  expect(await show("const a: number = 1;\nconst b: Array<string> = []; throw new Error('x')")).toMatchObject(
    { line: 2, column: 36 },
  );
});

test("a refused module rejects with the host's words, a fault without them", async () => {
  expect(await show("await import('https://no.example/a.js')")).toMatchObject({
    message: 'Module not found "https://no.example/a.js"',
  });
  expect(
    await show(
      "try { await import('https://no.example/a.js') } catch (e) { return Functions.encodeString(e.name) }",
    ),
  ).toBe("TypeError");
  expect(await show("await import('npm:fault')")).toMatchObject({ message: "host call failed" });
});

test("a module that does not parse or throws rejects, and the source can catch it", async () => {
  const caught = (name: string) =>
    show(
      `try { await import('${name}') } catch (e) { return Functions.encodeString(e.name + ': ' + e.message) }`,
    );
  expect(await caught("npm:broken")).toMatch(/^SyntaxError: /);
  expect(await caught("npm:throws")).toBe("RangeError: at load");
});

test("an import declaration is no function body", async () => {
  expect(await show("import x from 'npm:one'; return x")).toMatchObject({ kind: "syntax" });
  expect(await show("} } ; import x from 'npm:one'; () => { () => {")).toMatchObject({ kind: "syntax" });
});

test("an import() in code that the source makes at run time rejects", async () => {
  const made = ["eval(\"import('npm:one')\")", "new Function(\"return import('npm:one')\")()"];
  for (const expression of made) {
    const source = `return Functions.encodeString(await ${expression}.catch((e) => e.message))`;
    expect(await show(source)).toBe("Not supported");
  }
});
