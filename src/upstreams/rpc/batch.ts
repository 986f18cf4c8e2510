import { AllAttemptsFailed } from "./all-attempts-failed.ts";
import { type ArrayAnswer, BatchRefused, sendArray, sendOneByOne, smallerBatch } from "./batch-exchange.ts";
import type { CallDeps } from "./call-deps.ts";
import type { Exchange, ItemAnswer } from "./exchange.ts";
import { callError, networkOffline } from "./failure-answer.ts";
import { brokenAnswer, RpcFault } from "./faults.ts";
import type { RpcMember } from "./member.ts";
import type { NetworkPool } from "./network.ts";
import type { RpcAnswer, RpcCall, RpcItem, RpcOutcome } from "./port.ts";
import { Race, type RaceResult, type RpcAttempt } from "./race.ts";
import { safetyOf, safetyOfAll } from "./sends.ts";
import { membersFor, settleSend } from "./single.ts";

/** Sends one batch to the upstreams of its network (docs/rpc.md). Throws as `single` does. */
export async function batch(
	call: RpcCall,
	pool: NetworkPool | undefined,
	deps: CallDeps,
): Promise<RpcAnswer<readonly RpcOutcome[]>> {
	const ordered = await membersFor(call, pool, deps);
	if (pool === undefined || ordered.length === 0) throw networkOffline(call.network, pool);
	return new Batch(call, pool, deps, ordered).run();
}

/** An item in progress: the upstreams tried so far, and the outcome. */
interface Place {
	readonly position: number;
	readonly item: RpcItem;
	readonly tried: Set<RpcMember>;
	outcome: ItemAnswer | null;
	/** The error of an upstream that lacks the method. It is the answer if no other upstream has the method. */
	fallback: ItemAnswer | null;
	/** True for a send that may have been accepted although no answer came. */
	unknown: boolean;
}

interface Group {
	readonly members: readonly RpcMember[];
	readonly places: readonly Place[];
}

class Batch {
	readonly #call: RpcCall;
	readonly #pool: NetworkPool;
	readonly #deps: CallDeps;
	readonly #ordered: readonly RpcMember[];
	readonly #places: readonly Place[];
	readonly #deadlineMs: number;
	readonly #failures: AllAttemptsFailed[] = [];
	readonly #answers = new Map<RpcMember, number>();
	#retries = 0;

	constructor(call: RpcCall, pool: NetworkPool, deps: CallDeps, ordered: readonly RpcMember[]) {
		this.#call = call;
		this.#pool = pool;
		this.#deps = deps;
		this.#ordered = ordered;
		this.#places = call.items.map((item, position) => ({
			position,
			item,
			tried: new Set(),
			outcome: null,
			fallback: null,
			unknown: false,
		}));
		const slow = call.items.some(({ method }) => method.slow);
		this.#deadlineMs = deps.clock.monotonicMs() + (slow ? deps.rpcSlowMs : deps.rpcMs);
	}

	async run(): Promise<RpcAnswer<readonly RpcOutcome[]>> {
		for (let groups = this.#groups(this.#places); groups.length > 0; ) {
			const unanswered = await Promise.all(groups.map((group) => this.#ask(group)));
			groups = this.#groups(unanswered.flat());
			this.#retries += groups.length;
		}
		const { network } = this.#call;
		const outcomes = this.#places.map(({ outcome, fallback }): RpcOutcome => outcome ?? fallback ?? { kind: "missing" });
		if (outcomes.every(({ kind }) => kind === "missing")) {
			const unknown = this.#places.filter((place) => place.unknown).map(({ position }) => position);
			const faults = this.#failures.flatMap((failure) => failure.faults);
			const late = this.#failures.some((failure) => failure.late);
			throw callError(network, new AllAttemptsFailed(faults, late, this.#retries, unknown.length > 0), unknown);
		}
		const [most] = [...this.#answers].sort(([, a], [, b]) => b - a);
		return { outcome: outcomes, upstream: most?.[0].name ?? null, retries: this.#retries };
	}

	/**
	 * Groups items into one array for each member that is the first choice of some item. Items that no member is left for
	 * are in no group.
	 */
	#groups(places: readonly Place[]): Group[] {
		const nowMs = this.#deps.clock.monotonicMs();
		if (places.length === 0 || nowMs >= this.#deadlineMs) return [];
		const groups = new Map<RpcMember, { members: readonly RpcMember[]; places: Place[] }>();
		for (const place of places) {
			const { method } = place.item;
			const able = this.#pool.able(this.#ordered, place.item);
			const isLeft = (member: RpcMember) =>
				!place.tried.has(member) && (place.fallback === null || !member.state.learned.lacksMethod(method.name, nowMs));
			const members = place.tried.size === 0 ? able : able.filter(isLeft);
			const [first] = members;
			if (first === undefined) continue;
			const group = groups.get(first);
			if (group === undefined) groups.set(first, { members, places: [place] });
			else group.places.push(place);
		}
		return [...groups.values()];
	}

	/** Sends the items of a group. Returns the items that another member may still answer. */
	async #ask({ members, places }: Group): Promise<Place[]> {
		const { clock } = this.#deps;
		const items = places.map(({ item }) => item);
		const tried = new Set<RpcMember>();
		const race = new Race<ArrayAnswer>(
			{
				pool: this.#pool,
				clock,
				tenant: this.#call.tenant,
				members,
				kind: "batch",
				safety: safetyOfAll(items),
				deadlineMs: this.#deadlineMs,
				signal: this.#call.signal,
			},
			(attempt) => {
				tried.add(attempt.member);
				return this.#attempt(attempt, items);
			},
		);
		try {
			const winner = await race.run();
			winner.end();
			return this.#take(winner, places);
		} catch (error) {
			if (!(error instanceof AllAttemptsFailed)) throw error;
			this.#failures.push(error);
			this.#retries += error.retries;
			return this.#failed(error, places, tried);
		}
	}

	#failed({ late, mayBeAccepted }: AllAttemptsFailed, places: readonly Place[], tried: ReadonlySet<RpcMember>): Place[] {
		const unanswered: Place[] = [];
		for (const place of places) {
			for (const member of tried) place.tried.add(member);
			if (safetyOf(place.item) === "read") {
				if (!late && tried.size > 0) unanswered.push(place);
			} else place.unknown ||= mayBeAccepted;
		}
		return unanswered;
	}

	#take({ value, member, retries }: RaceResult<ArrayAnswer>, places: readonly Place[]): Place[] {
		const { learned } = member.state;
		const unanswered: Place[] = [];
		let answered = 0;
		this.#retries += retries;
		for (const [index, place] of places.entries()) {
			const answer = value[index] ?? null;
			place.tried.add(member);
			if (answer !== null && !(answer instanceof RpcFault)) {
				place.outcome = answer.kind === "result" ? { ...answer, upstream: member.name } : answer;
				learned.onMethodAnswered(place.item.method.name);
				answered++;
				continue;
			}
			if (answer?.kind === "unsupported") {
				place.fallback ??= answer.fallback;
				learned.onMethodMissing(place.item.method.name, this.#deps.clock.monotonicMs());
			}
			const isRead = safetyOf(place.item) === "read";
			if (isRead || (answer !== null && !answer.mayBeAccepted)) unanswered.push(place);
			else place.unknown = true;
		}
		this.#answers.set(member, (this.#answers.get(member) ?? 0) + answered);
		const busy = value.find((answer) => answer instanceof RpcFault && answer.kind === "busy");
		if (busy instanceof RpcFault) this.#pool.reportFailure(member, busy);
		return unanswered;
	}

	async #attempt(attempt: RpcAttempt, items: readonly RpcItem[]): Promise<ArrayAnswer> {
		const { member, signal, fresh } = attempt;
		const { requestId, onSent } = this.#call;
		const { fetch, faults } = this.#deps;
		onSent?.(member.name);
		try {
			const answers = await this.#askAll({ fetch, member, requestId, signal, fresh }, items);
			if (!attempt.earlierMayBeAccepted && !items.some(({ mayBeAccepted }) => mayBeAccepted)) return answers;
			return await Promise.all(answers.map((answer, index) => this.#settleItem(answer, items[index], attempt)));
		} catch (error) {
			if (error instanceof RpcFault && !signal.aborted) faults.log(requestId, member, error);
			throw error;
		}
	}

	async #settleItem(answer: ArrayAnswer[number], item: RpcItem | undefined, attempt: RpcAttempt): Promise<ArrayAnswer[number]> {
		if (item === undefined || answer === null || answer instanceof RpcFault || answer.kind !== "error") return answer;
		if (!attempt.earlierMayBeAccepted && item.mayBeAccepted !== true) return answer;
		const now = await settleSend(answer, this.#call, item, attempt, this.#deps);
		return "next" in now ? answer : now;
	}

	/**
	 * Sends items in as many arrays as the member requires. The member's maximum may be learned during the call.
	 * @throws RpcFault if nothing was answered
	 */
	async #askAll(exchange: Exchange, items: readonly RpcItem[]): Promise<ArrayAnswer> {
		const { learned } = exchange.member.state;
		const { clock } = this.#deps;
		const max = learned.batchMax(clock.monotonicMs());
		if (max <= 1) return sendOneByOne(exchange, items);
		if (items.length > max) return this.#askInPieces(exchange, items, max);
		try {
			return answeredOrThrow(await sendArray(exchange, items));
		} catch (error) {
			if (!(error instanceof BatchRefused)) throw error;
			learned.onBatchTooLong(smallerBatch(error, items.length), clock.monotonicMs());
			return this.#askAll(exchange, items);
		}
	}

	async #askInPieces(exchange: Exchange, items: readonly RpcItem[], max: number): Promise<ArrayAnswer> {
		const answers: ArrayAnswer = [];
		let last: RpcFault | null = null;
		for (let from = 0; from < items.length; from += max) {
			const piece = items.slice(from, from + max);
			try {
				answers.push(...(await this.#askAll(exchange, piece)));
			} catch (error) {
				if (!(error instanceof RpcFault) || exchange.signal.aborted) throw error;
				last = error;
				for (const _ of piece) answers.push(error);
			}
		}
		if (last !== null && answers.every((answer) => answer instanceof RpcFault)) throw last;
		return answers;
	}
}

/**
 * Returns the answers, or throws the fault of an array whose items were all refused for now. The next member is then
 * asked for all of them.
 */
function answeredOrThrow(answers: ArrayAnswer): ArrayAnswer {
	const useful = answers.some((answer) => answer !== null && !(answer instanceof RpcFault && answer.fallback === null));
	if (useful) return answers;
	throw answers.find((answer) => answer instanceof RpcFault) ?? brokenAnswer("an array that answers nothing");
}
