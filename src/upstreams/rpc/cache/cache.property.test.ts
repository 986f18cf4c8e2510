import { expect, test } from "bun:test";
import fc from "fast-check";
import { callOf, itemOf } from "../../../../test/support/rpc-calls.ts";
import { result, ScriptedUpstreams, SetHeads } from "../../../../test/support/scripted-rpc-upstreams.ts";
import type { RpcItem, RpcOutcome } from "../port.ts";
import { CachedUpstreams } from "./cached-upstreams.ts";

interface Block {
	readonly number: number;
	readonly hash: string;
}

const hex = (number: number) => `0x${number.toString(16)}`;

/** A chain whose blocks above the final one may be replaced at any time, and a node that sees only some of them. */
class SimulatedChain {
	blocks: Block[] = [];
	final = 0;
	/** Blocks that the second node does not have yet. */
	lag = 0;
	#made = 0;

	constructor() {
		for (let count = 0; count < 4; count++) this.mine();
	}

	mine(): void {
		this.blocks.push({ number: this.blocks.length, hash: `0x${(++this.#made).toString(16).padStart(64, "0")}` });
	}

	/** Takes the blocks above `keep` away and puts others in their place, and one more. */
	replaceAbove(keep: number): void {
		const { length } = this.blocks;
		this.blocks.length = Math.min(length, keep + 1);
		while (this.blocks.length <= length) this.mine();
	}

	/** Hashes that there are or were. */
	get hashes(): string[] {
		return Array.from({ length: this.#made }, (_, index) => `0x${(index + 1).toString(16).padStart(64, "0")}`);
	}

	/** What a node answers now that has all blocks but the last `behind`. */
	answer({ method, params }: RpcItem, behind: number): RpcOutcome {
		const seen = this.blocks.slice(0, Math.max(1, this.blocks.length - behind));
		const args = JSON.parse(Buffer.from(params).toString());
		const at = (tag: string): Block | undefined => {
			if (tag === "latest") return seen.at(-1);
			if (tag === "finalized") return seen[Math.min(this.final, seen.length - 1)];
			return seen[tag === "earliest" ? 0 : Number(tag)];
		};
		const byHash = seen.find(({ hash }) => hash === args[0]);
		switch (method.name) {
			case "eth_chainId":
				return result("0x1");
			case "eth_blockNumber":
				return result(hex(seen.length - 1));
			case "eth_getBlockByNumber":
				return result(at(args[0]) ? { ...at(args[0]), number: args[0] } : null);
			case "eth_getBalance": {
				const block = at(args[1]);
				return block ? result(block.hash) : { kind: "error", value: Buffer.from('{"code":-32000}'), code: -32000 };
			}
			case "eth_getBlockByHash":
				return result(byHash ? { ...byHash, number: hex(byHash.number) } : null);
			case "eth_getTransactionReceipt":
				return result(byHash ? { transactionHash: byHash.hash, blockNumber: hex(byHash.number) } : null);
			case "eth_getLogs":
				return result(seen.slice(Number(args[0].fromBlock), Number(args[0].toBlock) + 1));
			default:
				throw new Error(method.name);
		}
	}
}

type Step =
	| { readonly kind: "mine" | "finalise" | "tell" | "forget" | "release" }
	| { readonly kind: "reorg" | "setBack" | "lag"; readonly by: number }
	| { readonly kind: "read" | "hold"; readonly what: number; readonly block: number; readonly node: "one" | "two" }
	| { readonly kind: "batch"; readonly what: readonly number[]; readonly block: number; readonly node: "one" | "two" };

const node = fc.constantFrom("one", "one", "two");
const read = { what: fc.nat({ max: 7 }), block: fc.nat({ max: 6 }), node };
const step: fc.Arbitrary<Step> = fc.oneof(
	{ weight: 4, arbitrary: fc.record({ kind: fc.constantFrom("mine", "finalise", "tell") }) },
	{ weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("forget", "release") }) },
	{ weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("reorg", "setBack", "lag"), by: fc.nat({ max: 4 }) }) },
	{ weight: 8, arbitrary: fc.record({ kind: fc.constant("read"), ...read }) },
	{ weight: 2, arbitrary: fc.record({ kind: fc.constant("hold"), ...read }) },
	{
		weight: 3,
		arbitrary: fc.record({ ...read, kind: fc.constant("batch"), what: fc.array(read.what, { minLength: 1, maxLength: 4 }) }),
	},
) as fc.Arbitrary<Step>;

/** One of the reads of such a chain. */
function readOf(chain: SimulatedChain, what: number, block: number): RpcItem {
	const hash = chain.hashes[(block * 7) % chain.hashes.length];
	const reads: (() => RpcItem)[] = [
		() => itemOf("eth_getBlockByNumber", [hex(block), false]),
		() => itemOf("eth_getBalance", ["0xaa", hex(block)]),
		() => itemOf("eth_getBalance", ["0xaa", ["latest", "finalized", "earliest"][block % 3]]),
		() => itemOf("eth_getBlockByHash", [hash, false]),
		() => itemOf("eth_getTransactionReceipt", [hash]),
		() => itemOf("eth_getLogs", [{ fromBlock: hex(Math.max(0, block - 2)), toBlock: hex(block) }]),
		() => itemOf("eth_blockNumber"),
		() => itemOf("eth_chainId"),
	];
	return (reads[what] ?? (() => itemOf("eth_chainId")))();
}

test("what comes from memory is what the node would answer now, whatever the chain does above its final block", async () => {
	let hits = 0;
	await fc.assert(
		fc.asyncProperty(fc.array(step, { minLength: 40, maxLength: 150 }), async (steps) => {
			const chain = new SimulatedChain();
			const heads = new SetHeads();
			const tell = () => {
				const hasFinal = chain.blocks.length - chain.lag > chain.final;
				heads.set(chain.final, "one", ...(hasFinal ? ["two"] : []));
			};
			/** Calls whose answers are worked out already and have not come. */
			const held: (() => void)[] = [];
			let holding = false;
			const inner = new ScriptedUpstreams((item) => chain.answer(item, inner.upstream === "two" ? chain.lag : 0));
			inner.gate = () => (holding ? new Promise<void>((resolve) => held.push(resolve)) : Promise.resolve());
			const cached = new CachedUpstreams(inner, heads, { maxBytes: 1_000_000 });
			const underWay = new Set<string>();
			const nameOf = (item: RpcItem) => `${item.method.name}${Buffer.from(item.params)}`;
			const pending: Promise<unknown>[] = [];
			const truth = (item: RpcItem) => Buffer.from((chain.answer(item, 0) as { value: Uint8Array }).value).toString();
			const release = async () => {
				for (const go of held.splice(0)) go();
				await Promise.all(pending.splice(0));
				underWay.clear();
			};
			for (const one of steps) {
				if (one.kind === "mine") chain.mine();
				else if (one.kind === "finalise") chain.final = Math.min(chain.final + 1, chain.blocks.length - 1);
				else if (one.kind === "tell") tell();
				else if (one.kind === "forget") heads.set(null);
				else if (one.kind === "release") await release();
				else if (one.kind === "reorg") chain.replaceAbove(Math.max(chain.final, chain.blocks.length - 1 - one.by));
				else if (one.kind === "lag") {
					chain.lag = one.by;
					tell();
				} else if (one.kind === "setBack") {
					chain.final = Math.max(0, chain.final - one.by);
					chain.replaceAbove(chain.final);
					tell();
				} else if (one.kind === "batch") {
					inner.upstream = one.node;
					const items = one.what.map((what) => readOf(chain, what, one.block)).filter((item) => !underWay.has(nameOf(item)));
					if (items.length === 0) continue;
					const before = inner.calls.length;
					const { outcome } = await cached.batch(callOf(items));
					const went = new Set(inner.calls.slice(before).flatMap((call) => call.items.map(nameOf)));
					for (const [index, item] of items.entries()) {
						const got = outcome[index];
						if (went.has(nameOf(item)) || got?.kind !== "result") continue;
						hits++;
						expect([nameOf(item), Buffer.from(got.value).toString()]).toEqual([nameOf(item), truth(item)]);
					}
				} else if (one.kind === "read" || one.kind === "hold") {
					inner.upstream = one.node;
					const item = readOf(chain, one.what, one.block);
					if (underWay.has(nameOf(item))) continue;
					holding = one.kind === "hold";
					const answer = cached.single(callOf(item));
					holding = false;
					if (one.kind === "hold") {
						underWay.add(nameOf(item));
						pending.push(answer);
						continue;
					}
					const { outcome, upstream } = await answer;
					if (upstream !== null || outcome.kind !== "result") continue;
					hits++;
					expect([nameOf(item), Buffer.from(outcome.value).toString()]).toEqual([nameOf(item), truth(item)]);
				}
			}
			await release();
			cached.close();
		}),
		{ numRuns: 300 },
	);
	expect(hits).toBeGreaterThan(500);
});
