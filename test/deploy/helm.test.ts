/** The chart of deploy/helm: its values against its schema, its templates against its values, and helm itself where it is here. */
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { parse, parseAllDocuments } from "yaml";
import { loadConfig } from "../../src/config/index.ts";
import { temporaryFolder } from "../support/served.ts";

const CHART = join(import.meta.dir, "../../deploy/helm/turnpike");
const text = (path: string) => readFileSync(join(CHART, path), "utf8");
const templates = readdirSync(join(CHART, "templates")).map((name) => ({ name, text: text(`templates/${name}`) }));
const values = parse(text("values.yaml")) as Record<string, unknown>;
const schema = JSON.parse(text("values.schema.json")) as TSchema;

test("the values that the chart brings fit its schema, and a misspelt one does not", () => {
	const check = Compile(schema);
	expect([...check.Errors(values)]).toEqual([]);
	expect(check.Check({ ...values, replica: 2 })).toBe(false);
	expect(check.Check({ ...values, replicas: "2" })).toBe(false);
	expect(check.Check({ ...values, store: { secretKey: "postgres://in-the-wrong-place" } })).toBe(false);
});

test("every value that a template names is there, and every value is used", () => {
	const named = new Set(
		templates.flatMap(({ text }) => [...text.matchAll(/\.Values((?:\.\w+)+)/g)].map(([, path]) => (path ?? "").slice(1))),
	);
	for (const path of named) {
		const known = path.split(".").reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], values);
		// What the operator's own parts hold is theirs: a default stands behind it.
		if (!path.startsWith("config.")) expect([path, known !== undefined]).toEqual([path, true]);
	}
	for (const name of Object.keys(values))
		expect([name, [...named].some((path) => path.split(".")[0] === name)]).toEqual([name, true]);
});

test("a node has longer to stop than its requests may take to finish", () => {
	const folder = temporaryFolder();
	try {
		const config = join(folder, "turnpike.yaml");
		writeFileSync(config, JSON.stringify(values.config));
		const { drainMs } = loadConfig({ config }, {}, folder).config.server;
		const preStop = Number(/command: \["sleep", "(\d+)"\]/.exec(text("templates/statefulset.yaml"))?.[1]);
		expect((Number(values.terminationGracePeriodSeconds) - preStop) * 1_000).toBeGreaterThan(drainMs);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
});

interface Manifest {
	readonly kind: string;
	readonly spec: Record<string, unknown>;
	readonly data?: Readonly<Record<string, string>>;
}

/** Go builds of helm say an old version of Kubernetes unless they are told one. */
const KUBERNETES = ["--kube-version", "1.31.0"];

describe.skipIf(Bun.which("helm") === null)("helm", () => {
	function helm(...args: string[]): { code: number; out: string; fault: string } {
		const { exitCode, stdout, stderr } = Bun.spawnSync(["helm", ...args]);
		return { code: exitCode, out: stdout.toString(), fault: stderr.toString() };
	}
	const template = (...sets: string[]) =>
		helm("template", "gate", CHART, ...KUBERNETES, ...sets.flatMap((set) => ["--set", set]));
	const manifests = (out: string) => parseAllDocuments(out).map((document) => document.toJS() as Manifest);

	test("finds nothing to complain of", () => {
		expect(helm("lint", "--strict", CHART)).toMatchObject({ code: 0 });
	});

	test("makes one node on SQLite from nothing", () => {
		const { code, out } = template();
		expect(code).toBe(0);
		const kinds = manifests(out).map(({ kind }) => kind);
		expect(kinds.sort()).toEqual(["ConfigMap", "Service", "Service", "ServiceAccount", "StatefulSet"]);
	});

	test("makes several nodes on PostgreSQL, watched and behind an address", () => {
		const { code, out, fault } = template(
			"replicas=3",
			"secret.existing=gate-secrets",
			"store.secretKey=STORE",
			"metrics.tokenKey=METRICS_TOKEN",
			"metrics.serviceMonitor.enabled=true",
			"ingress.enabled=true",
			"ingress.host=api.example.com",
		);
		expect([code, fault]).toEqual([0, ""]);
		const made = manifests(out);
		expect(made.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["PodDisruptionBudget", "Ingress", "ServiceMonitor"]));
		expect(made.some(({ kind }) => kind === "Secret")).toBe(false);
		const config = parse(made.find(({ kind }) => kind === "ConfigMap")?.data?.["turnpike.yaml"] ?? "") as { metrics: unknown };
		expect(config.metrics).toEqual({ token: "${METRICS_TOKEN}" });
		expect(made.find(({ kind }) => kind === "StatefulSet")?.spec.replicas).toBe(3);
	});

	test.each([
		[["replicas=2"], "needs PostgreSQL"],
		[["metrics.tokenKey=TOKEN"], "secret.existing"],
		[["secret.values.OTHER=x", "store.secretKey=STORE"], "expected STORE"],
		[["metrics.serviceMonitor.enabled=true"], "metrics.tokenKey"],
		[["ingress.enabled=true"], "ingress.host"],
		[["terminationGracePeriodSeconds=30"], "server.drainMs"],
		[["podDisruptionBudgets.enabled=true"], "podDisruptionBudgets"],
	])("refuses %p with a sentence", (sets, why) => {
		const { code, fault } = template(...sets);
		expect([code === 0, fault]).toEqual([false, expect.stringContaining(why)]);
	});
});
