// An MCP server whose clients find the authorization server by its URL. It answers with the user instead of JSON-RPC.
import CounterfoilHummingbird
import CounterfoilProtocol
import CounterfoilResource
import Hummingbird

// snippet.show
let notes = ResourceServer(
    issuer: try Issuer("https://id.example.com"), audience: "https://notes.example.com/mcp",
    scopeHierarchy: try ScopeHierarchy(["notes.write": "notes.read"]),
    publishing: ResourceDescription(scopes: try Scope(parsing: "notes.read"), name: "Notes"))

let router = Router(context: BasicVerifiedAccessRequestContext.self)
router.add(middleware: try ProtectedResourceMetadataMiddleware(notes))
router.group("mcp").requireScope(try Scope(parsing: "notes.read"), of: notes)
    .post { _, context in try context.requireUser().subject }
// snippet.hide
let writing = try Scope(parsing: "notes.write")
router.group("add").requireScope(try Scope(parsing: "notes.read"), of: notes).post { _, context in
    // snippet.show
    try notes.require(writing, of: context.requireAccess())
    // snippet.hide
    return "added"
}
try await Application(router: router).runService()
