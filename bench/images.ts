/**
 * Pictures on the way through a server of its own process: 40 edits of 8 megapixels at once, and what a picture of almost
 * 25 MB takes of the server's own memory and CPU, beside a plain pass-through. See bench/README.md, Images.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import sharp, { type Sharp } from "sharp";
import { startScriptedImageUpstream } from "../test/support/scripted-image-upstream.ts";
import { ADMIN_KEY, serve } from "../test/support/served.ts";
import { machine } from "./machine.ts";
import { peakMbSince, resetPeak } from "./peak-memory.ts";
import { processTree, usageOf } from "./process-accounting.ts";

const { values } = parseArgs({ options: { edits: { type: "string", default: "40" }, rounds: { type: "string", default: "3" } } });
const edits = Number(values.edits);
const rounds = Number(values.rounds);
const MB = 1_048_576;

/** CPU of a process without its children, which may end at any time (proc(5): utime, stime). */
function ownCpuMs(pid: number): number {
	const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
	const [user = "0", system = "0"] = stat
		.slice(stat.lastIndexOf(")") + 2)
		.split(" ")
		.slice(11, 13);
	return (Number(user) + Number(system)) * 10;
}

/** A picture that hardly packs: so many pixels, each its own colour. */
function noise(width: number, height: number): Sharp {
	const data = Buffer.alloc(width * height * 3);
	for (let at = 0, state = 1; at < data.length; at++) {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
		data[at] = state >>> 24;
	}
	return sharp(data, { raw: { width, height, channels: 3 } });
}

const large = await noise(2_890, 2_890).png({ compressionLevel: 0 }).toBuffer();
const photo = await noise(3_266, 2_450).blur(2).jpeg({ quality: 90 }).toBuffer();
const small = await noise(1_024, 1_024).png().toBuffer();
const upstream = startScriptedImageUpstream(() => Promise.resolve(small));
const server = await serve({
	config: {
		limits: { imageRequestsPerMinute: 10_000 },
		upstreams: { painter: { url: upstream.url, discover: false } },
		models: { entries: { "qwen-edit": { upstreams: [{ upstream: "painter" }] } } },
	},
});
const headers = { authorization: `Bearer ${ADMIN_KEY}` };
const url = `${server.url}/api/v1/image/edit`;
const toLocal = { model: "local-edit", safe_mode: "false" };

function form(picture: Uint8Array, fields: Readonly<Record<string, string>>): Promise<Response> {
	const body = new FormData();
	body.set("image", new Blob([picture as Uint8Array<ArrayBuffer>]));
	for (const [name, value] of Object.entries(fields)) body.set(name, value);
	return fetch(url, { method: "POST", headers, body });
}

function json(picture: Uint8Array, fields: Readonly<Record<string, unknown>>): Promise<Response> {
	const body = JSON.stringify({ ...fields, image: Buffer.from(picture).toString("base64") });
	return fetch(url, { method: "POST", headers: { ...headers, "content-type": "application/json" }, body });
}

async function finished(response: Response): Promise<number> {
	await response.bytes();
	return response.status;
}

console.log(machine());
try {
	await finished(await form(photo, { ...toLocal, prompt: "resize to 100x100" }));

	const startedAt = performance.now();
	const statuses = await Promise.all(
		Array.from({ length: edits }, async () =>
			finished(await form(photo, { ...toLocal, prompt: "rotate 90, sharpen", output_format: "jpeg" })),
		),
	);
	const seconds = (performance.now() - startedAt) / 1_000;
	const counts = Map.groupBy(statuses, (status) => status);
	const usage = usageOf(processTree(server.pid));
	console.log(
		`${edits} edits of 8 megapixels at once: ${[...counts].map(([status, all]) => `${all.length} x ${status}`).join(", ")}`,
	);
	console.log(
		`  ${seconds.toFixed(1)} s; peak of all its processes ${Math.round(usage.peakMb)} MB, ${Math.round(usage.rssMb)} MB after`,
	);

	for (const [name, send] of [
		["a form", () => form(large, { ...toLocal, prompt: "resize to 100x100" })],
		["JSON", () => json(large, { model: "local-edit", safe_mode: false, prompt: "resize to 100x100" })],
	] as const) {
		for (let round = 0; round < rounds; round++) {
			const base = resetPeak(server.pid);
			const before = ownCpuMs(server.pid);
			const status = await finished(await send());
			const peak = peakMbSince(server.pid, base);
			const cpu = ownCpuMs(server.pid) - before;
			console.log(
				`${(large.length / MB).toFixed(1)} MB as ${name}: ${status}; the server's own process +${Math.round(peak)} MB, ${cpu} ms of CPU`,
			);
		}
	}

	const perMegabyte = async (send: () => Promise<Response>) => {
		await finished(await send());
		const before = ownCpuMs(server.pid);
		const at = performance.now();
		for (let round = 0; round < rounds * 3; round++) await finished(await send());
		const count = rounds * 3;
		return { wallMs: (performance.now() - at) / count, cpuMs: (ownCpuMs(server.pid) - before) / count };
	};
	const through = await perMegabyte(() =>
		form(large, { model: "qwen-edit", prompt: "x", safe_mode: "false", output_format: "png" }),
	);
	const direct = await perMegabyte(() => {
		const body = new FormData();
		body.set("image", new Blob([large as Uint8Array<ArrayBuffer>]));
		return fetch(`${upstream.url}/images/edits`, { method: "POST", body });
	});
	const megabytes = (large.length + small.length) / MB;
	console.log(
		`through the server to another: ${(through.wallMs / megabytes).toFixed(1)} ms for each MB in and out, ${(through.cpuMs / megabytes).toFixed(1)} ms of its own process's CPU; straight there ${(direct.wallMs / megabytes).toFixed(1)} ms`,
	);
} finally {
	server.kill("SIGTERM");
	await server.exited;
	server.remove();
	await upstream.stop();
}
