/**
 * `bun scripts/docs/pages.ts`: writes docs/endpoints/, a page for each endpoint, from the OpenAPI document of a server
 * that is started for it on a folder of its own. Made anew each time, kept out of the repository.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type EndpointPage, endpointPages, type OpenApi } from "./endpoint-pages.ts";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");
const LIMIT_MS = 60_000;

/** What the server of this checkout says of itself. Throws where it does not start. */
async function openApi(): Promise<OpenApi> {
	const data = mkdtempSync(join(tmpdir(), "turnpike-docs-"));
	writeFileSync(join(data, "turnpike.yaml"), "log: { level: error }\nchat: { embedded: { enabled: false } }\n");
	const child = Bun.spawn([process.execPath, join(ROOT, "src/main.ts"), "serve", "--port", "0", "--data", data], {
		cwd: data,
		env: { PATH: process.env.PATH ?? "", HOME: data },
		stdin: "ignore",
		stdout: "ignore",
		stderr: "inherit",
	});
	try {
		const end = performance.now() + LIMIT_MS;
		while (performance.now() < end && child.exitCode === null) {
			const url = noted(join(data, "serve.url"));
			const answer = url === null ? null : await fetch(`${url}/api/v1/openapi.json`).catch(() => null);
			if (answer?.ok) return (await answer.json()) as OpenApi;
			await Bun.sleep(50);
		}
		throw new Error("the server did not start");
	} finally {
		child.kill("SIGTERM");
		await child.exited;
		rmSync(data, { recursive: true, force: true });
	}
}

function noted(file: string): string | null {
	try {
		return readFileSync(file, "utf8").trim() || null;
	} catch {
		return null;
	}
}

function byTag(pages: readonly EndpointPage[]): Map<string, EndpointPage[]> {
	const tags = new Map<string, EndpointPage[]>();
	for (const page of pages) tags.set(page.tag, [...(tags.get(page.tag) ?? []), page]);
	return tags;
}

const pages = endpointPages(await openApi());
const folder = join(ROOT, "docs/endpoints");
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const { file, text } of pages) writeFileSync(join(folder, file), text);
const tags = byTag(pages);
const list = [...tags].map(
	([tag, of]) => `## ${tag}\n\n${of.map(({ title, file, address }) => `- [${title}](${file}): \`${address}\``).join("\n")}\n`,
);
writeFileSync(
	join(folder, "index.md"),
	`# Endpoints\n\nMade from the schemas that check the requests. The same is served at \`/docs\` and \`/api/v1/openapi.json\`.\n\n${list.join("\n")}`,
);
const sidebar = [...tags].map(([text, of]) => ({
	text,
	collapsed: true,
	items: of.map(({ title, file }) => ({ text: title, link: `/endpoints/${file.replace(/\.md$/, "")}` })),
}));
writeFileSync(join(ROOT, "docs/.vitepress/endpoints.json"), `${JSON.stringify(sidebar, null, "\t")}\n`);
process.stdout.write(`${pages.length} pages in docs/endpoints\n`);
