/**
 * Time as one process of a simulated machine has it: its clocks, its timers, and what comes to it over the network. A
 * paused process (SIGSTOP, a machine that sleeps) gets everything when it goes on; one that was killed, nothing more.
 */
import type { Clock, Timers } from "../../src/telemetry/clock.ts";
import type { World } from "./world.ts";

export class ProcessTime implements Clock, Timers {
	readonly #world: World;
	readonly #startMs: number;
	/** Unix milliseconds at the run's begin, by this machine. */
	#wallMs: number;
	/** How long the monotonic clock stood still. */
	#sleptMs = 0;
	#state: "runs" | "paused" | "killed" = "runs";
	#missed: (() => void)[] = [];
	#pausedAtMs = 0;
	#asleep = false;

	constructor(world: World, wallMs: number) {
		this.#world = world;
		this.#startMs = world.nowMs;
		this.#wallMs = wallMs;
	}

	wallMs(): number {
		return Math.floor(this.#wallMs + this.#world.nowMs);
	}

	monotonicMs(): number {
		return this.#world.nowMs - this.#startMs - this.#sleptMs;
	}

	after(delayMs: number, action: () => void): () => void {
		let wanted = true;
		const run = (): void => {
			if (wanted && this.#state !== "killed") action();
		};
		const cancel = this.#world.at(this.#world.nowMs + Math.max(0, delayMs), () => this.#arrive(run));
		return () => {
			wanted = false;
			cancel();
		};
	}

	get running(): boolean {
		return this.#state === "runs";
	}

	get killed(): boolean {
		return this.#state === "killed";
	}

	/** Sets the wall clock, as a time server or an operator does. */
	stepWall(byMs: number): void {
		this.#wallMs += byMs;
	}

	get asleep(): boolean {
		return this.#state === "paused" && this.#asleep;
	}

	/** @param asleep the monotonic clock stands still meanwhile, as on a machine that sleeps */
	pause(asleep: boolean): void {
		if (this.#state !== "runs") return;
		this.#asleep = asleep;
		this.#state = "paused";
		this.#pausedAtMs = this.#world.nowMs;
	}

	resume(): void {
		if (this.#state !== "paused") return;
		if (this.#asleep) this.#sleptMs += this.#world.nowMs - this.#pausedAtMs;
		this.#state = "runs";
		for (const run of this.#missed.splice(0)) this.#world.at(this.#world.nowMs, () => this.#arrive(run));
	}

	kill(): void {
		this.#state = "killed";
		this.#missed = [];
	}

	#arrive(run: () => void): void {
		if (this.#state === "runs") run();
		else if (this.#state === "paused") this.#missed.push(run);
	}
}
