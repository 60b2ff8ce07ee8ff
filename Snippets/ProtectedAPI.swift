// An API that accepts access tokens of one issuer. The snippet constructs the GET request that a real API receives.
import CounterfoilProtocol
import CounterfoilResource
import HTTPTypes

let request = HTTPRequest(method: .get, scheme: "https", authority: "photos.example.com", path: "/photos")
// snippet.show
let photos = ResourceServer(issuer: try Issuer("https://id.example.com"), audience: "https://photos.example.com")
let access = try await photos.access(for: request, requiring: try Scope(parsing: "photos.read"))
let user = try access.user()
// snippet.hide
print(user.subject)
