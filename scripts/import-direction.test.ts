import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const ROOT = join(import.meta.dir, "..");

/** Every module, in the order in which imports may go: down, never up. */
const LAYERS = [
	["commands"],
	["gateway"],
	["observability", "maintenance"],
	["routes"],
	["completions"],
	["server"],
	["access", "budgets", "catalog", "upstreams", "engines", "payments"],
	["journal", "ledger", "store"],
	["assets"],
	["errors", "schema", "wire", "config", "telemetry", "fairness"],
];

/** [importing file, what it imports]: each must be refused. */
const FORBIDDEN: readonly (readonly [string, string])[] = [
	// Up: every module towards every module of every layer above, and towards the command line.
	...LAYERS.flatMap((layer, index) =>
		layer.flatMap((module) =>
			LAYERS.slice(0, index)
				.flat()
				.map((upper) => imports(module, upper)),
		),
	),
	...LAYERS.slice(1)
		.flat()
		.map((module): readonly [string, string] => [`src/${module}/main.ts`, "../main.ts"]),
	// Sideways between the middle modules.
	...pairs(["access", "budgets", "catalog", "upstreams", "engines", "payments"]),
	...["budgets", "catalog", "upstreams", "engines", "payments"].map((module) => imports("server", module)),
	...["journal", "ledger", "store"].map((module) => imports(module, "assets")),
	["src/store/core/sqlite.ts", "../sqlite/part.ts"],
	["src/store/core/postgres.ts", "../postgres/part.ts"],
	// Past the layer below.
	...["journal", "ledger", "store"].flatMap((module) => [imports("routes", module), imports("completions", module)]),
	...["journal", "ledger", "store"].map((module): readonly [string, string] => [
		`src/routes/chat/${module}.ts`,
		`../../${module}/part.ts`,
	]),
	// From one route to another, also from a folder inside it.
	["src/routes/chat/sibling.ts", "../models/part.ts"],
	["src/routes/chat/sibling-file.ts", "../prompt.ts"],
	["src/routes/chat/inner/sibling.ts", "../../models/part.ts"],
	["src/routes/chat/inner/sibling-file.ts", "../../prompt.ts"],
	// From a folder inside a route.
	...["journal", "ledger", "store", "commands", "gateway"].map((module): readonly [string, string] => [
		`src/routes/chat/inner/${module}.ts`,
		`../../../${module}/part.ts`,
	]),
	["src/routes/chat/commands.ts", "../../commands/part.ts"],
	["src/routes/chat/gateway.ts", "../../gateway/part.ts"],
	["src/routes/chat/main.ts", "../../main.ts"],
	["src/routes/chat/inner/main.ts", "../../../main.ts"],
	// From a folder inside a module.
	["src/engines/chat/up.ts", "../../server/part.ts"],
	["src/store/sqlite/up.ts", "../../budgets/port.ts"],
	// What runs in browsers, from the server.
	["console/src/api/wire.ts", "../../../src/wire/index.ts"],
	["console/src/main.ts", "../../src/routes/console/index.ts"],
];

/** [importing file, what it imports]: each must pass. */
const PERMITTED: readonly (readonly [string, string])[] = [
	["src/main.ts", "./routes/index.ts"],
	["src/gateway/routes.ts", "../routes/chat/part.ts"],
	["src/gateway/store.ts", "../store/part.ts"],
	["src/commands/serve.ts", "../ledger/part.ts"],
	["src/routes/index.ts", "./chat/part.ts"],
	["src/routes/chat/down.ts", "../../server/endpoint.ts"],
	["src/routes/chat/own.ts", "./part.ts"],
	["src/routes/chat/inner/own.ts", "../part.ts"],
	["src/routes/chat/inner/down.ts", "../../../server/endpoint.ts"],
	["src/routes/chat/budgets.ts", "../../budgets/port.ts"],
	["src/routes/chat/engines.ts", "../../engines/part.ts"],
	["src/routes/chat/completions.ts", "../../completions/part.ts"],
	["src/completions/server.ts", "../server/endpoint.ts"],
	["src/completions/engines.ts", "../engines/part.ts"],
	["src/server/access.ts", "../access/index.ts"],
	["src/server/budgets.ts", "../budgets/port.ts"],
	["src/budgets/nano.ts", "../ledger/nano.ts"],
	["src/catalog/nano.ts", "../ledger/nano.ts"],
	["src/upstreams/types.ts", "../catalog/types.ts"],
	["src/server/types.ts", "../catalog/types.ts"],
	["src/access/port.ts", "../budgets/port.ts"],
	["src/engines/chat/assets.ts", "../../assets/part.ts"],
	["src/journal/store.ts", "../store/port.ts"],
	["src/store/journal.ts", "../journal/records.ts"],
	["src/ledger/errors.ts", "../errors/index.ts"],
	["src/config/schema.ts", "../schema/index.ts"],
	["src/telemetry/package.ts", "store/part.ts"],
	["console/src/api/types.ts", "../../../src/routes/console/types.ts"],
	["console/src/pages/part.ts", "../api/part.ts"],
];

function imports(from: string, to: string): readonly [string, string] {
	return [`src/${from}/to-${to}.ts`, `../${to}/part.ts`];
}

function pairs(modules: readonly string[]): (readonly [string, string])[] {
	return modules.flatMap((from) => modules.filter((to) => to !== from).map((to) => imports(from, to)));
}

let folder = "";
let refused: ReadonlySet<string> = new Set();

interface Report {
	readonly diagnostics: readonly { readonly category: string; readonly location: { readonly path: string } }[];
}

/** Lints all cases in one run of the real rules: a tree of small files beside a copy of biome.json. */
beforeAll(async () => {
	folder = mkdtempSync(join(tmpdir(), "turnpike-import-direction-"));
	cpSync(join(ROOT, "biome.json"), join(folder, "biome.json"));
	for (const [file, target] of [...FORBIDDEN, ...PERMITTED]) {
		mkdirSync(dirname(join(folder, file)), { recursive: true });
		writeFileSync(join(folder, file), `import { part } from "${target}";\n\nexport const own = part;\n`);
	}
	const biome = join(ROOT, "node_modules", "@biomejs", "biome", "bin", "biome");
	const lint = Bun.spawn(["node", biome, "lint", "--reporter=json", "--max-diagnostics=none"], { cwd: folder, stderr: "ignore" });
	const report = JSON.parse(await new Response(lint.stdout).text()) as Report;
	const broken = report.diagnostics.filter((diagnostic) => diagnostic.category === "lint/style/noRestrictedImports");
	refused = new Set(broken.map((diagnostic) => diagnostic.location.path));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const shown = ([file, target]: readonly [string, string]) => `${file} imports ${target}`;

test("lint refuses an import across every boundary", () => {
	expect(FORBIDDEN.filter(([file]) => !refused.has(file)).map(shown)).toEqual([]);
});

test("lint lets every import pass that goes down, or stays in its module", () => {
	expect(PERMITTED.filter(([file]) => refused.has(file)).map(shown)).toEqual([]);
});

test("every module of src stands on a layer, so that no import of a new module goes unchecked", () => {
	const modules = readdirSync(join(ROOT, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
	expect(modules.map((entry) => entry.name).filter((name) => !LAYERS.flat().includes(name))).toEqual([]);
});
