import { link } from "../markdown.ts";
import { eqFieldText } from "../office/eq-field.ts";
import { decodeBytes, encodingOfCharset, encodingOfPage, knownPage } from "./code-pages.ts";
import { commentBlock, noteBlock, RtfFlow } from "./rtf-flow.ts";
import type { RtfVisitor } from "./rtf-tokens.ts";

/** Destinations whose content is not the document's text. */
const SKIPPED = new Set([
	"colortbl",
	"info",
	"pict",
	"objdata",
	"shprslt",
	"sn",
	"sv",
	"themedata",
	"colorschememapping",
	"latentstyles",
	"datastore",
	"listtable",
	"listoverridetable",
	"rsidtbl",
	"generator",
	"xmlnstbl",
	"filetbl",
	"revtbl",
	"nonesttables",
	"nesttableprops",
	"falt",
	"panose",
	"bkmkstart",
	"bkmkend",
	"atrfstart",
	"atrfend",
	"atndate",
	"atnref",
	"atnid",
	"atnparent",
	"template",
	"ftnsep",
	"ftnsepc",
	"ftncn",
	"aftnsep",
	"aftnsepc",
	"aftncn",
	"pgdsctbl",
	"passwordhash",
	"wgrffmtfilter",
	"mmathPr",
	"datafield",
	"xe",
	"tc",
	"fname",
	"blipuid",
	"picprop",
]);
/** Destinations behind `\*` that contain visible text. */
const SHOWN = new Set(["shpinst", "do", "annotation", "atnauthor", "fldinst", "pntext", "ud", "listtext", "moveto"]);
const HEADERS = new Set(["header", "headerl", "headerr", "headerf"]);
const FOOTERS = new Set(["footer", "footerl", "footerr", "footerf"]);
const SIGNS: Readonly<Record<string, string>> = { "~": "\u00a0", _: "\u2011", "\\": "\\", "{": "{", "}": "}" };
const CHARACTERS: Readonly<Record<string, string>> = {
	tab: "\t",
	line: "\n",
	emdash: "\u2014",
	endash: "\u2013",
	bullet: "\u2022",
	lquote: "\u2018",
	rquote: "\u2019",
	ldblquote: "\u201c",
	rdblquote: "\u201d",
	emspace: "\u2003",
	enspace: "\u2002",
	qmspace: "\u2005",
};

/** The character set of a document (RTF 1.9.1, Character Set): `\\pc` is code page 437, `\\pca` is 850. */
const CHARACTER_SETS: Readonly<Record<string, string>> = {
	ansi: "windows-1252",
	mac: "macintosh",
	pc: encodingOfPage(437),
	pca: encodingOfPage(850),
};

interface Group {
	skip: boolean;
	/** A destination whose text is collected for another use. */
	gather: "" | "fonttbl" | "stylesheet" | "fldinst" | "atnauthor" | "listtext";
	/** The number of characters after a `\u` for readers that cannot show it. */
	fallback: number;
	encoding: string | null;
	hidden: boolean;
	/** Called when the group ends. */
	end: (() => void) | null;
}

/** Reads the words of an RTF file into flows (RTF 1.9.1). */
export class RtfReader implements RtfVisitor {
	#group: Group = { skip: false, gather: "", fallback: 1, encoding: null, hidden: false, end: null };
	readonly #open: Group[] = [];
	readonly #body = new RtfFlow();
	readonly #headers: string[] = [];
	readonly #footers: string[] = [];
	#flow = this.#body;
	#characterSet = "windows-1252";
	/** Overrides the character set; null if the file names no code page. */
	#ansiPage: string | null = null;
	readonly #fonts = new Map<number, string | null>();
	#font = 0;
	#defaultFont = 0;
	readonly #styles = new Map<number, number>();
	#style = 0;
	#starred = false;
	#skipCharacters = 0;
	#bytes: number[] = [];
	#gathered = "";
	#author = "";
	#notes = 0;
	#field: { address: string | undefined; formula: string; from: number; flow: RtfFlow } | null = null;

	/** Returns all blocks in the order of the page. */
	end(): string[] {
		this.#flush();
		return [...new Set(this.#headers), ...this.#body.end(), ...new Set(this.#footers)];
	}

	open(): void {
		this.#flush();
		this.#open.push(this.#group);
		this.#group = { ...this.#group, end: null };
		this.#starred = false;
		this.#skipCharacters = 0;
	}

	close(): void {
		this.#flush();
		this.#group.end?.();
		this.#group = this.#open.pop() ?? this.#group;
		this.#skipCharacters = 0;
	}

	byte(byte: number): void {
		this.#starred = false;
		if (this.#skipCharacters > 0) this.#skipCharacters -= 1;
		else if (!this.#group.skip) this.#bytes.push(byte);
	}

	sign(sign: string): void {
		this.#flush();
		if (sign === "*") this.#starred = true;
		else if (this.#skipCharacters > 0) this.#skipCharacters -= 1;
		else this.#add(SIGNS[sign] ?? "");
	}

	word(word: string, number: number | null): void {
		this.#flush();
		// Binary bytes are skipped, and count as one character of a fallback (RTF 1.9.1, Unicode).
		if (word === "bin") {
			this.#skipCharacters = Math.max(0, this.#skipCharacters - 1);
			return;
		}
		const starred = this.#starred;
		this.#starred = false;
		if (SKIPPED.has(word) || (starred && !SHOWN.has(word))) {
			this.#group.skip = true;
			return;
		}
		if (this.#group.skip) return;
		if (word === "u" && number !== null) {
			this.#add(String.fromCharCode(number & 0xffff));
			this.#skipCharacters = this.#group.fallback;
		} else if (CHARACTERS[word] !== undefined) this.#add(CHARACTERS[word]);
		else this.#destination(word) || this.#setting(word, number) || this.#layout(word, number);
	}

	#destination(word: string): boolean {
		const { gather } = this.#group;
		if (word === "fonttbl" || word === "stylesheet") this.#gather(word, () => {});
		else if (word === "fldinst")
			this.#gather("fldinst", (code) => {
				const formula = eqFieldText(code);
				this.#field = {
					address: /^\s*HYPERLINK\s+"([^"]+)"/.exec(code)?.[1],
					formula: formula ?? "",
					from: this.#flow.length,
					flow: this.#flow,
				};
				this.#flow.add(this.#field.formula);
			});
		else if (word === "fldrslt") this.#group.end = () => this.#endField();
		else if (word === "atnauthor")
			this.#gather("atnauthor", (author) => {
				this.#author = author.trim();
			});
		else if (gather === "" && (word === "listtext" || word === "pntext"))
			this.#gather("listtext", (text) => this.#flow.mark(text));
		else if (word === "footnote") {
			const number = ++this.#notes;
			this.#flow.add(`[^${number}]`);
			this.#newFlow((flow, outer) => outer.note(noteBlock(number, flow)));
		} else if (word === "annotation") this.#newFlow((flow, outer) => outer.behind(commentBlock(this.#author, flow)));
		else if (word === "shptxt" || word === "dptxbxtext")
			this.#newFlow((flow, outer) => {
				for (const block of flow.end()) outer.behind(block);
			});
		else if (HEADERS.has(word)) this.#newFlow((flow) => this.#headers.push(...flow.end()));
		else if (FOOTERS.has(word)) this.#newFlow((flow) => this.#footers.push(...flow.end()));
		else return false;
		return true;
	}

	#setting(word: string, number: number | null): boolean {
		const group = this.#group;
		if (word === "ansicpg") this.#ansiPage = knownPage(number ?? 0) ?? this.#ansiPage;
		else if (CHARACTER_SETS[word] !== undefined) this.#characterSet = CHARACTER_SETS[word];
		else if (word === "uc") group.fallback = Math.min(16, Math.max(0, number ?? 1));
		else if (word === "deff") this.#defaultFont = number ?? 0;
		else if (word === "f") {
			this.#font = number ?? 0;
			group.encoding = this.#fonts.get(this.#font) ?? null;
		} else if (word === "fcharset" && group.gather === "fonttbl") this.#fonts.set(this.#font, encodingOfCharset(number ?? 0));
		else if (word === "cpg" && group.gather === "fonttbl") this.#fonts.set(this.#font, encodingOfPage(number ?? 0));
		else if (word === "plain") {
			group.encoding = this.#fonts.get(this.#defaultFont) ?? null;
			group.hidden = false;
		} else if (word === "v" || word === "deleted") group.hidden = number !== 0;
		else if (word === "s" && group.gather === "stylesheet") this.#style = number ?? 0;
		else return false;
		return true;
	}

	#layout(word: string, number: number | null): void {
		const flow = this.#flow;
		if (this.#group.gather !== "") return;
		if (word === "par" || word === "sect" || word === "page") flow.endParagraph();
		else if (word === "cell" || word === "nestcell") flow.endCell();
		else if (word === "row" || word === "nestrow") flow.endRow();
		else if (word === "pard") {
			flow.inTable = false;
			flow.headingLevel = 0;
		} else if (word === "intbl") flow.inTable = true;
		else if (word === "s") flow.headingLevel = this.#styles.get(number ?? 0) ?? flow.headingLevel;
		else if (word === "outlinelevel" && number !== null && number < 9) flow.headingLevel = number + 1;
	}

	#gather(what: Group["gather"], use: (text: string) => void): void {
		this.#group.gather = what;
		this.#gathered = "";
		this.#group.end = () => {
			use(this.#gathered);
			this.#gathered = "";
		};
	}

	#newFlow(use: (flow: RtfFlow, outer: RtfFlow) => void): void {
		const outer = this.#flow;
		const flow = new RtfFlow();
		this.#flow = flow;
		this.#group.gather = "";
		this.#group.end = () => {
			this.#flow = outer;
			use(flow, outer);
		};
	}

	#endField(): void {
		const field = this.#field;
		this.#field = null;
		if (field?.flow !== this.#flow) return;
		const { address, formula, from } = field;
		this.#flow.replaceFrom(from, (text) => {
			const result = text.slice(formula.length);
			return link(result.trim() === "" ? formula : result, address);
		});
	}

	#flush(): void {
		if (this.#bytes.length === 0) return;
		const bytes = this.#bytes;
		this.#bytes = [];
		this.#add(decodeBytes(bytes, this.#group.encoding ?? this.#ansiPage ?? this.#characterSet));
	}

	#add(text: string): void {
		const { skip, gather, hidden } = this.#group;
		if (skip || hidden || text === "") return;
		if (gather === "") this.#flow.add(text);
		else if (gather === "stylesheet") this.#styleName(text);
		else if (gather !== "fonttbl") this.#gathered += text;
	}

	/** Reads a name like `heading 1;` for the style that was numbered before it. */
	#styleName(name: string): void {
		const level = /^\s*heading (\d)\s*;/i.exec(name)?.[1];
		if (level !== undefined) this.#styles.set(this.#style, Number(level));
		else if (/^\s*title\s*;/i.test(name)) this.#styles.set(this.#style, 1);
	}
}
