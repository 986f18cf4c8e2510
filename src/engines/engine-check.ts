/** One line of `turnpike doctor`. */
export interface EngineCheck {
	readonly name: string;
	readonly ok: boolean;
	/** What is so, and what to do where it is not well. */
	readonly text: string;
}
