/** Sign-ins of wallets a second, and what one costs: fresh ones, known ones, and the parts that a fresh one is made of. */
import { parseArgs } from "node:util";
import { hashMessage } from "viem";
import { nativeRecovery, portableRecovery, type Recovery } from "../src/access/evm/recover-signer.ts";
import {
	createSignIn,
	createSolanaWallet,
	createWallet,
	evmHeader,
	requestWith,
	solanaHeader,
} from "../src/access/wallet/testing/sign-ins.ts";
import { isBusy, machine } from "./machine.ts";
import { writeSection } from "./page.ts";

const { values } = parseArgs({
	options: {
		seconds: { type: "string", default: "3" },
		headers: { type: "string", default: "2000" },
		/** The page is left as it is. */
		dry: { type: "boolean", default: false },
	},
});
const seconds = Number(values.seconds);
const count = Number(values.headers);
const ROUNDS = 5;

interface Figure {
	readonly perSecond: number;
	readonly cpuMicroseconds: number;
}

const figures: (readonly [string, Figure])[] = [];

/** Runs `work` on and on; of all rounds the one with the least CPU: other work on the machine only adds to it. */
async function measure(name: string, work: (index: number) => unknown): Promise<void> {
	let best: Figure | null = null;
	for (let round = 0, index = 0; round < ROUNDS; round++) {
		const cpu = process.cpuUsage();
		const begin = performance.now();
		const end = begin + (seconds * 1000) / ROUNDS;
		let done = 0;
		for (; performance.now() < end; done++) await work(index++);
		const used = process.cpuUsage(cpu);
		const figure = {
			perSecond: done / ((performance.now() - begin) / 1000),
			cpuMicroseconds: (used.user + used.system) / done,
		};
		if (best === null || figure.cpuMicroseconds < best.cpuMicroseconds) best = figure;
	}
	const { perSecond, cpuMicroseconds } = best ?? { perSecond: 0, cpuMicroseconds: 0 };
	figures.push([name, { perSecond, cpuMicroseconds }]);
	console.log(
		`${name.padEnd(34)} ${Math.round(perSecond).toString().padStart(8)} /s ${cpuMicroseconds.toFixed(1).padStart(9)} us CPU`,
	);
}

const nonce = (index: number) => index.toString().padStart(16, "0");
const wallet = createWallet();
const solana = createSolanaWallet();
const evm: Request[] = [];
for (let index = 0; index < count; index++) evm.push(requestWith(await evmHeader(wallet, { nonce: nonce(index) })));
const onSolana = Array.from({ length: count }, (_, index) => requestWith(solanaHeader(solana, { nonce: nonce(index) })));

/** A checker that knows nothing yet, each time that all headers have been round. */
function fresh(requests: readonly Request[]): (index: number) => unknown {
	let signIn = createSignIn();
	return (index) => {
		if (index % count === 0) signIn = createSignIn();
		return signIn.signedIn(requests[index % count] ?? requestWith(""), () => "");
	};
}

async function known(requests: readonly Request[]): Promise<(index: number) => unknown> {
	const signIn = createSignIn();
	for (const request of requests) await signIn.signedIn(request, () => "");
	return (index) => signIn.signedIn(requests[index % count] ?? requestWith(""), () => "");
}

const signature = Buffer.from((await wallet.signMessage({ message: "m" })).slice(2), "hex");
const signedHash = hashMessage("m", "bytes");
const recoveryOf = (recover: Recovery) => () => recover(signedHash, signature.subarray(0, 64), (signature[64] ?? 27) - 27);

const on = machine();
const { processor, cores, loadBefore } = on;
console.log(`${processor}, ${cores} cores, load ${loadBefore.toFixed(1)}, one thread`);
await measure("EVM wallet, fresh", fresh(evm));
await measure("EVM wallet, known", await known(evm));
await measure("Solana wallet, fresh", fresh(onSolana));
await measure("Solana wallet, known", await known(onSolana));
const native = await nativeRecovery();
if (native !== null) await measure("recovery alone, compiled", recoveryOf(native));
await measure("recovery alone, portable", recoveryOf(await portableRecovery()));

if (!values.dry) {
	const busy = isBusy(on)
		? `\n\n**The machine was busy with other work (load average ${loadBefore.toFixed(1)} before the run): the rates say little, the CPU more.**`
		: "";
	const rows = figures.map(
		([name, { perSecond, cpuMicroseconds }]) =>
			`| ${name} | ${Math.round(perSecond).toLocaleString("en-US")} | ${cpuMicroseconds.toFixed(1)} |`,
	);
	writeSection(
		[
			"## Sign-ins of wallets",
			`Written by \`bench/sign-in.ts\`: [bench/README.md](../bench/README.md#sign-ins-of-wallets). ${on.date}, commit ${on.commit}. ${processor}, ${cores} cores, one thread, without HTTP. Fresh: the header is seen for the first time. Known: it has been verified before. Of ${ROUNDS} rounds that with the least CPU.${busy}`,
			["| | a second | CPU us each |", "| --- | ---: | ---: |", ...rows].join("\n"),
		].join("\n\n"),
	);
}
