/** A result of `turnpike doctor` for one part of the service. `note`: it works, and the operator should know something. */
export interface Finding {
	readonly name: string;
	readonly state: "ok" | "note" | "fault";
	/** The state that was found. */
	readonly text: string;
	/** The command or setting line that fixes it. */
	readonly mend?: string;
}

export const ok = (name: string, text: string): Finding => ({ name, state: "ok", text });
export const notice = (name: string, text: string, mend: string): Finding => ({ name, state: "note", text, mend });
export const fault = (name: string, text: string, mend: string): Finding => ({ name, state: "fault", text, mend });
