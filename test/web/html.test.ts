import { describe, expect, test } from "vitest";
import { html, plainText, showText } from "../../src/web/html.ts";

describe("html", () => {
  test("default: text is escaped in content and attributes, markup is not", () => {
    const text = `<img src=x onerror="alert('1')">&`;
    expect(html`<p title="${text}">${text}</p>`.toString()).toBe(
      '<p title="&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;">&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;</p>',
    );
    expect(html`<p>${html`<b>${text.slice(0, 1)}</b>`}</p>`.toString()).toBe("<p><b>&lt;</b></p>");
  });

  test("behaviour: lists are joined, numbers written, nothing stands for nothing", () => {
    expect(html`${[1, 2n, ["<", null, undefined, false]]}${0}`.toString()).toBe("12&lt;0");
  });

  test("behaviour: an object from JSON can't pass for markup", () => {
    const forged = JSON.parse('{"text":"<script>","toString":"x","html":"<script>"}') as never;
    expect(() => html`${forged}`.toString()).toThrow(TypeError);
  });
});

describe("showText", () => {
  test("default: characters that hide or reorder others are named", () => {
    expect(showText("a\u202Eb\u2066\u0000").toString()).toBe(
      'a<span class="hidden-char">U+202E</span>b<span class="hidden-char">U+2066</span><span class="hidden-char">U+0000</span>',
    );
    expect(plainText("a\u202Eb")).toBe("a[U+202E]b");
  });

  test("behaviour: line breaks, tabs and letters of any script stay", () => {
    const text = "one\n\ttwo é ✓ 漢字 😀";
    expect(showText(text).toString()).toBe(text);
  });
});
