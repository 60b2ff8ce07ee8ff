// The verification of an access token from standard input. The argument is the path of the file with the key set.
import CounterfoilProtocol
import CounterfoilTokens
import Foundation

guard CommandLine.arguments.count == 2, let accessToken = readLine() else {
    preconditionFailure("pass the path of a key set, and a token on standard input")
}
let issuer = try Issuer("https://id.example.com")
let keys = try JSONWebKeySet(parsing: Data(contentsOf: URL(filePath: CommandLine.arguments[1])))
// snippet.show
let verifier = AccessTokenVerifier(issuer: issuer, audience: "https://photos.example.com")
let token = try verifier.verify(accessToken, keys: keys, at: Date())
print(token.subject)
// snippet.hide
