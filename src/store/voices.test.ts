import { BooksFolder } from "./testing/books-folder.ts";
import { testVoices } from "./testing/voices-contract.ts";

testVoices(async () => new BooksFolder());
