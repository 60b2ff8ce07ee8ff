// An API that accepts only tokens that are bound to a key, behind a proxy, in several processes.
import CounterfoilProtocol
import CounterfoilResource
import Foundation

let issuer = try Issuer("https://id.example.com")
guard let nonceKey = ProofNonceKey(ProcessInfo.processInfo.environment["PHOTOS_NONCE_KEY"] ?? "") else {
    preconditionFailure("PHOTOS_NONCE_KEY is not set to 32 random bytes in base64url")
}
// snippet.show
let policy = ProofPolicy(
    requiresBoundTokens: true, nonces: .required(key: nonceKey),
    publicURL: try AbsoluteURI(parsing: "https://photos.example.com/api"))
let photos = ResourceServer(issuer: issuer, audience: "https://photos.example.com", proofs: policy)
// snippet.hide
print(photos)
