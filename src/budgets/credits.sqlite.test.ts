import { BooksFolder } from "../store/testing/books-folder.ts";
import { testCredits } from "./credits-contract.test-support.ts";

testCredits(() => new BooksFolder());
