// An API that introspects tokens, with the client_id and client_secret that the server issued to it.
import CounterfoilProtocol
import CounterfoilResource
import Foundation

let environment = ProcessInfo.processInfo.environment
let issuer = try Issuer("https://id.example.com")
guard let clientID = ClientIdentifier(environment["PHOTOS_CLIENT_ID"] ?? ""),
    let clientSecret = ClientSecret(environment["PHOTOS_CLIENT_SECRET"] ?? "")
else { preconditionFailure("PHOTOS_CLIENT_ID and PHOTOS_CLIENT_SECRET are not set") }
// snippet.show
let introspection = TokenIntrospection(clientID: clientID, clientSecret: clientSecret, lifetime: .seconds(30))
let photos = ResourceServer(issuer: issuer, audience: "https://photos.example.com", introspection: introspection)
// snippet.hide
print(photos)
