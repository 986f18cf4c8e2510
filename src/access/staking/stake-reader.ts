import type { ReadStake as BookedStake, StakeBlock, Staker } from "../../store/admin/stake-readings.ts";
import type { StorePort } from "../../store/port.ts";
import { type Clock, every, type Timers } from "../../telemetry/clock.ts";
import type { Log } from "../../telemetry/log.ts";
import { type Block, ChainError, ChainRefusedError } from "../evm/index.ts";
import { firstBlockSince } from "./first-block.ts";
import { nanoDiemOf, type StakeRate } from "./stake-amount.ts";
import type { StakeOrFault, StakingContract } from "./staking-contract.ts";

const DAY_MS = 86_400_000;
const DAY_SECONDS = 86_400;
const CHECK_EVERY_MS = 15_000;
/** Another node takes over a reading that made no progress for this time. */
const TERM_MS = 120_000;
const FIRST_RETRY_MS = 15_000;
const LAST_RETRY_MS = 600_000;
/** The number of wallets in one Multicall3 call, and in one batch of single calls. */
const PAGE = 200;
const PAGE_ALONE = 40;

export interface StakeReaderDeps {
	readonly store: Pick<StorePort, "admin" | "node">;
	readonly contract: StakingContract;
	/** Identifies chain, contract and view; a day is read from one origin. */
	readonly origin: string;
	readonly rate: StakeRate;
	/** Confirmations that the day's first block needs before it is read. */
	readonly confirmations: number;
	readonly clock: Clock;
	readonly timers: Timers;
	readonly log: Log;
}

/** The outcome of a check. `later`: another node reads, the block does not exist yet, or a retry is waiting. */
export type StakeReadOutcome = "read" | "later" | "failed" | "given-up";

/**
 * Reads the stakes of each UTC day, once for all nodes, at the day's first block. A failed reading is retried at the same block
 * until the day ends; stakes that are not read by then pay nothing that day.
 */
export class StakeReader {
	readonly #deps: StakeReaderDeps;
	#stopTicking: (() => void) | null = null;
	#reading: Promise<StakeReadOutcome> | null = null;
	#stopped = false;
	/** The day to which the other fields belong. */
	#day = -1;
	#outcome: "read" | "given-up" | null = null;
	#failures = 0;
	/** A time of the monotonic clock. */
	#notBeforeMs = 0;

	constructor(deps: StakeReaderDeps) {
		this.#deps = deps;
	}

	start(): void {
		void this.readIfDue();
		this.#stopTicking = every(this.#deps.timers, CHECK_EVERY_MS, () => void this.readIfDue());
	}

	/** Stops between two pages; another node, or the next start, continues. */
	stop(): void {
		this.#stopped = true;
		this.#stopTicking?.();
	}

	/** Reads the stakes if they are due. Calls during a reading share it. It never rejects. */
	readIfDue(): Promise<StakeReadOutcome> {
		this.#reading ??= this.#readIfDue().finally(() => {
			this.#reading = null;
		});
		return this.#reading;
	}

	async #readIfDue(): Promise<StakeReadOutcome> {
		const { clock, log } = this.#deps;
		const day = Math.floor(clock.wallMs() / DAY_MS);
		if (day !== this.#day) {
			this.#day = day;
			this.#outcome = null;
			this.#failures = 0;
			this.#notBeforeMs = 0;
		}
		if (this.#outcome !== null) return this.#outcome;
		if (clock.monotonicMs() < this.#notBeforeMs) return "later";
		try {
			const outcome = await this.#readDay(day);
			if (outcome === "read" || outcome === "given-up") this.#outcome = outcome;
			return outcome;
		} catch (error) {
			if (this.#stopped) return "later";
			const retryMs = Math.min(FIRST_RETRY_MS * 2 ** this.#failures++, LAST_RETRY_MS);
			this.#notBeforeMs = clock.monotonicMs() + retryMs;
			const cause = error instanceof Error ? error.message : String(error);
			log.warn({ day: dateOf(day), cause, retryMs }, "stakes could not be read; who was not read has no diem until then");
			return "failed";
		}
	}

	async #readDay(day: number): Promise<StakeReadOutcome> {
		const { store, origin, log, contract } = this.#deps;
		const turn = await store.admin("takeStakeReading", { day, origin, reader: store.node.id, termMs: TERM_MS });
		if (turn.turn === "done") return "read";
		if (turn.turn === "wait") return "later";
		if (turn.turn === "other-origin") {
			log.error(
				{ day: dateOf(day), began: turn.origin, origin },
				"stakes of this day were read elsewhere; this contract begins tomorrow",
			);
			return "given-up";
		}
		if ((await this.#page(day, "", 1)).length > 0) {
			await contract.chain.checkId();
			const block = turn.block ?? (await this.#chooseBlock(day));
			if (block === null) return "later";
			if (!(await this.#isCanonical(block))) {
				log.error(
					{ day: dateOf(day), block: block.number },
					"the chain replaced the block of a day's stakes; the rest of them begins tomorrow",
				);
				return "given-up";
			}
			await this.#readAll(day, block.number);
		}
		return (await store.admin("finishStakeReading", { day })) ? "read" : "later";
	}

	/** Returns the block to read; null if the day's first block is not deep enough yet. */
	async #chooseBlock(day: number): Promise<StakeBlock | null> {
		const { store, contract, confirmations } = this.#deps;
		const newest = await this.#blockAt("latest");
		const head = confirmations === 0 ? newest : await this.#blockAt(Math.max(0, newest.number - confirmations));
		if (head.timestamp < day * DAY_SECONDS) return null;
		const { number, hash } = await firstBlockSince(day * DAY_SECONDS, head, (number) => this.#blockAt(number));
		if (!(await contract.isThere(number))) throw new ChainError(`there is no contract at staking.contract in block ${number}`);
		return store.admin("chooseStakeBlock", { day, block: { number, hash } });
	}

	async #isCanonical({ number, hash }: StakeBlock): Promise<boolean> {
		return (await this.#blockAt(number)).hash === hash;
	}

	async #blockAt(name: number | "latest"): Promise<Block> {
		const block = await this.#deps.contract.chain.block(name);
		if (block === null) throw new ChainError(`the chain's node has no block ${name}`);
		return block;
	}

	/** Reads all stakes. If the node refused a wallet, it throws after the other wallets are read. */
	async #readAll(day: number, block: number): Promise<void> {
		const { contract, log } = this.#deps;
		const together = await contract.hasMulticall(block);
		const size = together ? PAGE : PAGE_ALONE;
		let read = 0;
		let refusal: ChainRefusedError | null = null;
		for (let after = "", more = true; more && !this.#stopped; ) {
			const page = await this.#page(day, after, size);
			after = page.at(-1)?.accountId ?? after;
			more = page.length === size;
			const wallets = page.map(({ wallet }) => wallet);
			const answers = together ? await contract.stakesAtOnce(wallets, block) : await contract.stakes(wallets, block);
			const { stakes, fault } = this.#split(page, answers);
			refusal = fault ?? refusal;
			// A node that refuses a whole page is not called for the others.
			if (stakes.length === 0 && fault !== null) break;
			await this.#writeStakes(day, stakes);
			read += stakes.length;
		}
		log.info({ day: dateOf(day), block, accounts: read }, "stakes were read");
		if (refusal !== null) throw refusal;
	}

	/** If the contract reverts for all wallets, the view is wrong; if it reverts for some, those have no stake. */
	#split(page: readonly Staker[], answers: readonly StakeOrFault[]): { stakes: BookedStake[]; fault: ChainRefusedError | null } {
		const stakes: BookedStake[] = [];
		let fault: ChainRefusedError | null = null;
		let answered = false;
		for (const [index, staker] of page.entries()) {
			const answer = answers[index];
			if (answer instanceof ChainRefusedError) fault = answer;
			else if (answer !== undefined) {
				answered ||= answer !== "reverted";
				stakes.push({ ...staker, stake: answer === "reverted" ? 0 : nanoDiemOf(answer, this.#deps.rate) });
			}
		}
		if (answered || stakes.length === 0) return { stakes, fault };
		return {
			stakes: [],
			fault: fault ?? new ChainRefusedError("the contract reverts for every wallet; is staking.view right?", true),
		};
	}

	#page(day: number, after: string, limit: number): Promise<Staker[]> {
		return this.#deps.store.admin("listUnreadStakers", { day, after, limit });
	}

	async #writeStakes(day: number, stakes: readonly BookedStake[]): Promise<void> {
		const { store } = this.#deps;
		await store.admin("writeStakes", { day, reader: store.node.id, termMs: TERM_MS, stakes });
	}
}

function dateOf(day: number): string {
	return new Date(day * DAY_MS).toISOString().slice(0, 10);
}
