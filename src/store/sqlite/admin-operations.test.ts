import { testAdminOperations } from "../testing/admin-operations-contract.ts";
import { StoreFolder } from "../testing/store-folder.ts";

testAdminOperations(() => new StoreFolder());
