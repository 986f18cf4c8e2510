/** The files of deploy/ fit each other and the program. A container engine is not needed. */
import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { loadConfig } from "../../src/config/index.ts";

const ROOT = join(import.meta.dir, "../..");
const text = (path: string) => readFileSync(join(ROOT, path), "utf8");

interface Service {
	readonly image: string;
	readonly build?: { readonly context: string; readonly dockerfile: string };
	readonly environment?: Readonly<Record<string, string>>;
	readonly volumes?: readonly string[];
	readonly stop_grace_period?: string;
	readonly networks: { readonly inside: { readonly ipv4_address?: string } };
}
interface Compose {
	readonly services: Readonly<Record<"postgres" | "node-a" | "node-b" | "balancer", Service>>;
	readonly volumes: Readonly<Record<string, unknown>>;
	readonly networks: { readonly inside: { readonly ipam: { readonly config: readonly { readonly subnet: string }[] } } };
}

const compose = parse(text("deploy/compose/compose.yaml"), { merge: true }) as Compose;
const nodes = [compose.services["node-a"], compose.services["node-b"]];

/** The configuration of the nodes, loaded as they load it. */
function nodeConfig() {
	const dir = mkdtempSync(join(tmpdir(), "turnpike-deploy-"));
	try {
		const environment = Object.fromEntries(
			Object.entries(nodes[0]?.environment ?? {}).map(([name, value]) => [name, value.replace(/\$\{[^}]*\}/g, "x".repeat(20))]),
		);
		const config = join(ROOT, "deploy/compose/nodes.yaml");
		return loadConfig({ data: dir, config }, { ...environment, TURNPIKE_CONFIG: config }, dir).config;
	} finally {
		rmSync(dir, { recursive: true, force: true });
	}
}

test("nginx has the addresses of all nodes, and they believe nobody else", () => {
	const addresses = nodes.map((node) => node?.networks.inside.ipv4_address);
	const balanced = [...text("deploy/compose/nginx.conf").matchAll(/^\s*server ([\d.]+):8787 /gm)].map(([, address]) => address);
	expect(balanced).toEqual(addresses);
	expect(new Set(balanced).size).toBe(2);
	const balancer = compose.services.balancer.networks.inside.ipv4_address;
	expect(nodeConfig().server.trustedProxies).toEqual([balancer ?? ""]);
});

test("one node alone has a configuration that loads, and can be reached from its machine only", () => {
	const { services } = parse(text("deploy/compose/single.yaml")) as { services: Record<string, Service & { ports: string[] }> };
	const node = services.node;
	expect(node?.ports.every((port) => port.startsWith("127.0.0.1:"))).toBe(true);
	const config = join(ROOT, "deploy/compose/single-node.yaml");
	expect(node?.volumes).toContain("./single-node.yaml:/etc/turnpike/turnpike.yaml:ro");
	const { drainMs } = loadConfig({ config }, {}, tmpdir()).config.server;
	expect(Number.parseInt(node?.stop_grace_period ?? "", 10) * 1_000).toBeGreaterThan(drainMs);
});

const ANALYZE = Bun.which("systemd-analyze");

test.skipIf(ANALYZE === null)("systemd takes the unit", () => {
	const dir = mkdtempSync(join(tmpdir(), "turnpike-unit-"));
	try {
		// The programs that it names are where the operator puts them, not here.
		const unit = text("deploy/systemd/turnpike.service").replaceAll(/^(ExecStart=)\S+/gm, "$1/bin/true");
		writeFileSync(join(dir, "turnpike.service"), unit);
		const { exitCode, stderr } = Bun.spawnSync([ANALYZE ?? "", "verify", "--man=no", join(dir, "turnpike.service")]);
		expect([exitCode, stderr.toString()]).toEqual([0, ""]);
	} finally {
		rmSync(dir, { recursive: true, force: true });
	}
});

test("the unit gives a node longer to stop than its requests may take to finish", () => {
	const seconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(text("deploy/systemd/turnpike.service"))?.[1]);
	expect(seconds * 1_000).toBeGreaterThan(nodeConfig().server.drainMs);
});

test("the nodes share one store and nothing else", () => {
	const [a, b] = nodes;
	expect(nodeConfig().store).toStartWith("postgres://turnpike:");
	expect(a?.environment).toEqual(b?.environment);
	const folders = nodes.map((node) => node?.volumes?.find((volume) => volume.endsWith(":/data"))?.split(":")[0] ?? "");
	expect(new Set(folders).size).toBe(2);
	expect(Object.keys(compose.volumes).sort()).toEqual([...folders, "postgres"].sort());
});

test("a node has longer to stop than its requests may take to finish", () => {
	for (const node of nodes)
		expect(Number.parseInt(node?.stop_grace_period ?? "", 10) * 1_000).toBeGreaterThan(nodeConfig().server.drainMs);
});

test("what the image copies is there, and its start needs no more", () => {
	const dockerfile = text(nodes[0]?.build?.dockerfile ?? "");
	const sources = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, all]) => (all ?? "").split(" "));
	for (const source of sources) expect([source, existsSync(join(ROOT, source))]).toEqual([source, true]);
	// Without it npm runs install scripts, and Bun's moves the program to where no start looks for it.
	expect(sources).toContain(".npmrc");
	const ignored = text("deploy/Dockerfile.dockerignore").split("\n");
	for (const source of sources) expect(ignored).toContain(`!${source.split("/")[0]}`);
	for (const folder of readdirSync(ROOT, { withFileTypes: true }))
		if (folder.isDirectory() && ["src", "bin", "catalog", "console"].includes(folder.name))
			expect(sources).toContain(folder.name);
});

test("every image is pinned to a version, and none to an address", () => {
	const images = [
		...Object.values(compose.services).map(({ image }) => image),
		/NODE_IMAGE=(\S+)\n\nFROM/.exec(text("deploy/Dockerfile"))?.[1] ?? "",
	];
	for (const image of images) expect(image).toMatch(/^[a-z]+:(\d+\.\d+(\.\d+)?-[a-z-]+|local)$/);
});
