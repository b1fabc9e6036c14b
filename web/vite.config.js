// Makes one file of everything: the page, its style, its script and the library.
import { readFileSync } from "node:fs";
import { defineConfig } from "vite";

// The page is opened from a disk, where a browser loads no module from another file: script and
// style go into the page itself, and what they were made from is not written.
function oneFile() {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(_, bundle) {
      const page = bundle["index.html"];
      for (const [name, file] of Object.entries(bundle)) {
        if (file === page) continue;
        const tag = name.endsWith(".js")
          ? new RegExp(`<script[^>]*src="[^"]*${file.fileName}"[^>]*></script>`)
          : new RegExp(`<link[^>]*href="[^"]*${file.fileName}"[^>]*>`);
        const text = name.endsWith(".js")
          ? `<script type="module">${file.code.trim().replaceAll("</script", "<\\/script")}</script>`
          : `<style>${file.source.trim()}</style>`;
        if (!tag.test(page.source)) throw new Error(`the page does not ask for ${name}`);
        page.source = page.source.replace(tag, () => text);
        delete bundle[name];
      }
      page.source += `<!--\n${readFileSync(new URL("NOTICE", import.meta.url), "utf8")}-->\n`;
      page.fileName = "planner.html";
    },
  };
}

export default defineConfig({
  base: "./",
  plugins: [oneFile()],
  build: {
    outDir: "../build/web",
    emptyOutDir: false,
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 1 << 20,
    reportCompressedSize: false,
  },
});
