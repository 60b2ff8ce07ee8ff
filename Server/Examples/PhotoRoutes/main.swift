// Hummingbird routes that require an access token.
import CounterfoilHummingbird
import CounterfoilProtocol
import CounterfoilResource
import Hummingbird

let resourceServer = ResourceServer(
    issuer: try Issuer("https://id.example.com"), audience: "https://photos.example.com")
// snippet.show
let router = Router(context: BasicVerifiedAccessRequestContext.self)
router.group("photos").requireScope(try Scope(parsing: "photos.read"), of: resourceServer)
    .get { _, context in try context.requireUser().subject }
// snippet.hide
try await Application(router: router).runService()
