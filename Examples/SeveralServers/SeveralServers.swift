import CounterfoilClient
import CounterfoilProtocol
import Foundation

/// A program that signs the user in at several servers, and prints what the user has granted at each of them.
///
/// It registers itself at each server. Then every server that does not send `iss` in its responses has a redirect URI
/// of its own, so that none of them can pass its code off as one of another server (RFC 9700 §4.4).
///
///     several-servers https://id.example.com https://login.example.org
@main
struct SeveralServers {
    static func main() async {
        let issuers = CommandLine.arguments.dropFirst()
        guard !issuers.isEmpty else {
            say("Usage: several-servers ISSUER...")
            exit(64)
        }
        do {
            let application = try ApplicationIdentifier("com.example.several-servers")
            let store = try await TokenStoreChoice.defaultStore(for: application)
            var client = ClientIdentification()
            client.registration = .init(as: "Several Servers", storedIn: store)
            for issuer in issuers {
                let signIn = NativeSignIn(issuer: try Issuer(ofServer: issuer), client: client)
                let credentials = try await signIn.run { event in
                    if case .opening(let url) = event { say("Open: \(url)") }
                }
                print("\(issuer)\t\(credentials.scope)")
            }
        } catch {
            say("\(error)")
            exit(1)
        }
    }

    private static func say(_ line: String) {
        try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
    }
}
