import { PDFiumModule } from "@hyzyla/pdfium";
import { DocumentFault } from "../document-fault.ts";
import { rebuildXref } from "./rebuild-xref.ts";

type Call = (...numbers: number[]) => number;

/** PDFium's own functions (public/fpdf_text.h and its neighbours), by name. */
const FUNCTIONS = [
	"FPDF_LoadMemDocument",
	"FPDF_CloseDocument",
	"FPDF_GetLastError",
	"FPDF_GetPageCount",
	"FPDF_LoadPage",
	"FPDF_ClosePage",
	"FPDF_GetPageWidthF",
	"FPDF_GetPageHeightF",
	"FPDF_RenderPageBitmap",
	"FPDFBitmap_CreateEx",
	"FPDFBitmap_FillRect",
	"FPDFBitmap_Destroy",
	"FPDFText_LoadPage",
	"FPDFText_ClosePage",
	"FPDFText_CountChars",
	"FPDFText_GetUnicode",
	"FPDFText_GetFontSize",
	"FPDFText_GetFontWeight",
	"FPDFText_GetCharBox",
	"FPDFText_GetLooseCharBox",
	"FPDFText_GetMatrix",
	"FPDFText_GetTextObject",
	"FPDFLink_Enumerate",
	"FPDFLink_GetAction",
	"FPDFLink_GetAnnotRect",
	"FPDFAction_GetURIPath",
	"FPDFPage_CountObjects",
	"FPDFPage_GetObject",
	"FPDFPageObj_GetType",
	"FPDFPageObj_GetBounds",
	"FPDFFormObj_CountObjects",
	"FPDFFormObj_GetObject",
	"FPDFPage_GetAnnotCount",
	"FPDFPage_GetAnnot",
	"FPDFPage_CloseAnnot",
	"FPDFAnnot_GetSubtype",
	"FPDFAnnot_GetStringValue",
	"FPDFAnnot_GetFlags",
	"FPDFAnnot_GetFormFieldName",
	"FPDFAnnot_GetFormFieldValue",
	"FPDFAnnot_GetFormFieldType",
	"FPDFAnnot_IsChecked",
	"FPDFDOC_InitFormFillEnvironment",
	"FPDFDOC_ExitFormFillEnvironment",
	"FORM_OnAfterLoadPage",
	"FORM_OnBeforeClosePage",
] as const;
type FunctionName = (typeof FUNCTIONS)[number];

/** FPDF_ERR_PASSWORD and FPDF_ERR_SECURITY (public/fpdfview.h). */
const PASSWORD_ERRORS = [4, 5];
const FORM_INFO_BYTES = 256;

/** The library cannot find the structure of the file. */
class NotOpened extends DocumentFault {}

/** The library with its memory. It opens one document at a time. */
export class Pdfium {
	readonly call: Readonly<Record<FunctionName, Call>>;
	readonly #module: Record<string, unknown>;
	readonly #malloc: Call;
	readonly #free: Call;

	private constructor(module: Record<string, unknown>) {
		this.#module = module;
		const entries = FUNCTIONS.map((name) => {
			const call = module[`_${name}`];
			if (typeof call !== "function") throw new Error(`This build of PDFium lacks ${name}`);
			return [name, call];
		});
		this.call = Object.fromEntries(entries) as Record<FunctionName, Call>;
		const { malloc, free } = module.wasmExports as { malloc: Call; free: Call };
		this.#malloc = malloc;
		this.#free = free;
	}

	static async load(): Promise<Pdfium> {
		const module = (await PDFiumModule({} as Parameters<typeof PDFiumModule>[0])) as unknown as Record<string, unknown>;
		const pdfium = new Pdfium(module);
		const init = module._FPDF_InitLibraryWithConfig as (config: number) => void;
		await pdfium.withMemory(32, (config) => {
			pdfium.bytes(config, 32).fill(0);
			new DataView(pdfium.bytes(config, 4).buffer, config, 4).setUint32(0, 2, true);
			init(config);
		});
		return pdfium;
	}

	/** Returns a view of the library's memory, valid until its next call. */
	bytes(at: number, length: number): Uint8Array {
		return (this.#module.HEAPU8 as Uint8Array).subarray(at, at + length);
	}

	double(at: number): number {
		return (this.#module.HEAPF64 as Float64Array)[at >> 3] ?? 0;
	}

	float(at: number): number {
		return (this.#module.HEAPF32 as Float32Array)[at >> 2] ?? 0;
	}

	int(at: number): number {
		return (this.#module.HEAP32 as Int32Array)[at >> 2] ?? 0;
	}

	withMemory<T>(length: number, use: (at: number) => T): T {
		const at = this.#malloc(length);
		if (at === 0) throw new DocumentFault("too-costly", "The file takes more memory than a file may");
		try {
			return use(at);
		} finally {
			this.#free(at);
		}
	}

	/** Reads text that a function writes into a buffer in UTF-16: the first call returns its length. */
	text(write: (buffer: number, length: number) => number): string {
		const length = write(0, 0);
		if (length <= 2) return "";
		return this.withMemory(length, (at) => {
			write(at, length);
			return new TextDecoder("utf-16le").decode(this.bytes(at, length - 2).slice());
		});
	}

	/**
	 * Opens a document during `use`, also one with a lost cross-reference table.
	 * @throws {DocumentFault}
	 */
	withDocument<T>(file: Uint8Array, use: (document: number, form: number) => T): T {
		try {
			return this.#open(file, use);
		} catch (fault) {
			const rebuilt = fault instanceof NotOpened ? rebuildXref(file) : null;
			if (rebuilt === null) throw fault;
			return this.#open(rebuilt, use);
		}
	}

	#open<T>(file: Uint8Array, use: (document: number, form: number) => T): T {
		const { call } = this;
		return this.withMemory(file.length, (at) => {
			this.bytes(at, file.length).set(file);
			const document = call.FPDF_LoadMemDocument(at, file.length, 0);
			if (document === 0)
				throw PASSWORD_ERRORS.includes(call.FPDF_GetLastError())
					? new DocumentFault("encrypted", "The file is protected by a password")
					: new NotOpened("corrupt", "The file is cut off or damaged: it cannot be read as a PDF");
			try {
				return this.withMemory(FORM_INFO_BYTES, (info) => {
					this.bytes(info, FORM_INFO_BYTES).fill(0);
					new DataView(this.bytes(info, 4).buffer, info, 4).setUint32(0, 2, true);
					const form = call.FPDFDOC_InitFormFillEnvironment(document, info);
					try {
						return use(document, form);
					} finally {
						if (form !== 0) call.FPDFDOC_ExitFormFillEnvironment(form);
					}
				});
			} finally {
				call.FPDF_CloseDocument(document);
			}
		});
	}

	/** Loads a page during `use`; null if it cannot be read. */
	withPage<T>(document: number, form: number, index: number, use: (page: number) => T): T | null {
		const { call } = this;
		const page = call.FPDF_LoadPage(document, index);
		if (page === 0) return null;
		if (form !== 0) call.FORM_OnAfterLoadPage(page, form);
		try {
			return use(page);
		} finally {
			if (form !== 0) call.FORM_OnBeforeClosePage(page, form);
			call.FPDF_ClosePage(page);
		}
	}
}
