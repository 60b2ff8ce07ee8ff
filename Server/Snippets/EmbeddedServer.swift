// An authorization server embedded in another program.
import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import CounterfoilWeb
import Logging
import ServiceLifecycle

guard let serverKey = ServerKey(bytes: ServerKey.newBytes()) else { preconditionFailure("a server key has 32 bytes") }
let store = try SQLiteStore(at: "data/counterfoil.db")
let logger = Logger(label: "lightbox")
// snippet.show
let settings = ServerSettings(issuer: try Issuer("https://id.example.com"), siteName: "Example Photos")
let keys = try await KeyRing.open(store, serverKey: serverKey)
let server = AuthorizationServer(
    settings: settings, store: store, serverKey: serverKey, keys: keys, hasher: PasswordHasher(),
    pages: .console, logger: logger)

let web = try WebServer.service(server, host: "127.0.0.1", port: 8080, logger: logger)
let group = ServiceGroup(services: [web], logger: logger)
try await group.run()
// snippet.hide
