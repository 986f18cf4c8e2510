/** What `turnpike doctor` found of one part of the service. `note`: it works, and something is to be known. */
export interface Finding {
	readonly name: string;
	readonly state: "ok" | "note" | "fault";
	/** What is so. */
	readonly text: string;
	/** The command or the line that mends it. */
	readonly mend?: string;
}

export const ok = (name: string, text: string): Finding => ({ name, state: "ok", text });
export const notice = (name: string, text: string, mend: string): Finding => ({ name, state: "note", text, mend });
export const fault = (name: string, text: string, mend: string): Finding => ({ name, state: "fault", text, mend });
