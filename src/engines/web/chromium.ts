import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FairQueue, type Requester } from "../../fairness/index.ts";
import { boundMemory } from "../cgroup.ts";
import { childEnvironment } from "../process.ts";
import { endTree, limitTree } from "../process-tree.ts";
import type { ScriptedPages } from "./page-reader.ts";
import { PageFault } from "./port.ts";

export interface ChromiumOptions {
	/** The path of the program. */
	readonly program: string;
	/** The proxy for each request of a page. */
	readonly proxyPort: () => Promise<number>;
	readonly userAgent: () => string;
	/** The limit of the resulting HTML. */
	readonly maxBytes: number;
	/** The page's own clock time for its scripts, in which waiting costs nothing. Default 8 s. */
	readonly scriptMs?: number;
	/** Resident memory of a page's browser, all its processes together. */
	readonly maxMemoryMb: () => number;
	/** After this time the page is read as it is. Default 12 s. */
	readonly loadMs?: number;
	/** The number of concurrent pages. Default 2. */
	readonly pages?: number;
	/** The number of waiting pages. Default 64. */
	readonly maxWaiting?: number;
}

const SCRIPT_MS = 8_000;
const LOAD_MS = 12_000;

/**
 * Renders pages in the operator's Chromium. Each page has its own browser and profile, which end with it or at the memory
 * limit. The browser resolves no names, and nothing bypasses the proxy.
 */
export class Chromium implements ScriptedPages {
	readonly #options: ChromiumOptions;
	readonly #gate: FairQueue;

	constructor(options: ChromiumOptions) {
		this.#options = options;
		const { pages: places = 2, maxWaiting = 64 } = options;
		this.#gate = new FairQueue({ places, reserve: true, maxWaiting, overflow });
	}

	html(url: string, requester: Requester): Promise<{ url: string; html: string }> {
		return this.#gate.run(requester, async () => {
			const html = await this.#run(url, requester.signal);
			if (isErrorPage(html)) throw new PageFault("url_unreachable", "The page leads to an address that cannot be read");
			return { url, html };
		});
	}

	async #run(url: string, signal: AbortSignal): Promise<string> {
		const profile = await mkdtemp(join(tmpdir(), "turnpike-page-"));
		try {
			return await this.#dump(url, profile, await this.#options.proxyPort(), signal);
		} finally {
			await rm(profile, { recursive: true, force: true, maxRetries: 5 });
		}
	}

	#dump(url: string, profile: string, proxyPort: number, signal: AbortSignal): Promise<string> {
		const { program, userAgent, maxBytes, maxMemoryMb, scriptMs = SCRIPT_MS, loadMs = LOAD_MS } = this.#options;
		// A process group of its own, so that its processes end together.
		const child = spawn(program, flags({ profile, proxyPort, userAgent: userAgent(), scriptMs, loadMs, url }), {
			detached: true,
			stdio: ["ignore", "pipe", "ignore"],
			env: { ...childEnvironment(), HOME: profile },
		});
		const { promise, resolve, reject } = Promise.withResolvers<string>();
		const pieces: Buffer[] = [];
		let length = 0;
		child.stdout.on("data", (piece: Buffer) => {
			length += piece.length;
			if (length > maxBytes) reject(new PageFault("url_too_large", `The page has more than ${maxBytes} bytes`));
			else pieces.push(piece);
		});
		child.on("error", (fault) => reject(new PageFault("page_empty", "The browser for pages with scripts does not start", fault)));
		child.on("close", () => resolve(Buffer.concat(pieces).toString("utf8")));
		const most = maxMemoryMb() * 2 ** 20;
		const unbound = child.pid === undefined ? () => {} : boundMemory(child.pid, most);
		const unwatch = child.pid === undefined ? () => {} : limitTree(child.pid, most, () => reject(tooHungry()));
		const leave = () => reject(signal.reason);
		signal.addEventListener("abort", leave, { once: true });
		if (signal.aborted) leave();
		return promise.finally(() => {
			unwatch();
			signal.removeEventListener("abort", leave);
			if (child.pid !== undefined) endTree(child.pid);
			unbound();
		});
	}
}

const tooHungry = () => new PageFault("page_too_costly", "The page takes more memory than a page may");
const overflow = () => new PageFault("page_too_costly", "Too many pages wait for their scripts to run");

/** Returns true for the browser's own error page (components/neterror/resources/neterror.html). */
function isErrorPage(html: string): boolean {
	return html.includes('<body class="neterror"') && html.includes('id="main-frame-error"');
}

interface Run {
	readonly profile: string;
	readonly proxyPort: number;
	readonly userAgent: string;
	readonly scriptMs: number;
	readonly loadMs: number;
	readonly url: string;
}

function flags({ profile, proxyPort, userAgent, scriptMs, loadMs, url }: Run): string[] {
	return [
		"--headless",
		"--dump-dom",
		`--virtual-time-budget=${scriptMs}`,
		`--timeout=${loadMs}`,
		`--user-data-dir=${profile}`,
		`--user-agent=${userAgent}`,
		`--proxy-server=http://127.0.0.1:${proxyPort}`,
		// Loopback also goes to the proxy, which refuses it; no name is resolved here; no packet bypasses the proxy.
		"--proxy-bypass-list=<-loopback>",
		"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
		"--webrtc-ip-handling-policy=disable_non_proxied_udp",
		"--force-webrtc-ip-handling-policy",
		"--disable-quic",
		// Disables the browser's own requests.
		"--disable-background-networking",
		"--disable-features=NetworkTimeServiceQuerying,OptimizationHints,MediaRouter,Translate",
		"--disable-domain-reliability",
		"--disable-client-side-phishing-detection",
		"--disable-component-extensions-with-background-pages",
		"--disable-default-apps",
		"--disable-component-update",
		"--disable-extensions",
		"--disable-sync",
		"--disable-gpu",
		"--disable-dev-shm-usage",
		"--no-first-run",
		"--no-default-browser-check",
		"--mute-audio",
		"--blink-settings=imagesEnabled=false",
		"--js-flags=--max-old-space-size=512",
		// Its sandbox needs a user other than root.
		...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
		url,
	];
}
