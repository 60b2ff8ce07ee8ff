// A server job without a user, which authenticates with a private key.
// snippet.show
import CounterfoilClient
import Foundation

let key = try ClientKey(contentsOf: URL(fileURLWithPath: "/etc/lightbox/key.pem"), id: "2026-11")
let signIn = try ServiceSignIn(
    issuer: "https://id.example.com", clientID: "lightbox-nightly", authentication: .privateKey(key),
    scope: "photos.read", apiOrigins: ["https://photos.example.com"])
let session = ServiceSession(signIn)
print(try await session.get("https://photos.example.com/photos").statusCode)
