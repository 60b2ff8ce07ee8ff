// The store of an authorization server, in a PostgreSQL database.
import CounterfoilPostgreSQL
import CounterfoilServer
import CounterfoilStore

guard let serverKey = ServerKey(bytes: ServerKey.newBytes()) else { preconditionFailure("a server key has 32 bytes") }
// snippet.show
let database = try ConnectionString("postgresql://counterfoil@db.example.com/counterfoil")
try await PostgreSQLStore.migrate(database)
let store = try await PostgreSQLStore.open(database)
let keys = try await KeyRing.open(store, serverKey: serverKey)
await store.close()
// snippet.hide
print(keys)
