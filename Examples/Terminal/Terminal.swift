import CounterfoilClient
import Foundation

/// A minimal program for a terminal, which signs the user in here or on another device, and calls an API.
///
///     terminal https://id.example.com CLIENT_ID https://photos.example.com/photos
@main
struct Terminal {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 3 else {
            say("Usage: terminal ISSUER CLIENT_ID URL")
            exit(64)
        }
        let (issuer, clientID, url) = (arguments[1], arguments[2], arguments[3])
        do {
            let signIn = try NativeSignIn(
                issuer: issuer, clientID: clientID, scope: "openid offline_access photos.read",
                apiOrigins: [EndpointURL(url).origin])
            let store = try await TokenStoreChoice.defaultStore(for: ApplicationIdentifier("com.example.terminal"))
            let session = TokenSession(for: signIn, store: store)
            try await session.signedIn { () async throws(SignInError) in
                try await signIn.runWithDeviceFallback { event in
                    if case .opening(let url) = event { say("Open: \(url)") }
                } show: { instructions in
                    say("Open \(instructions.verificationURI) on another device and enter \(instructions.userCode).")
                }
            }
            let answer = try await session.get(url)
            print(answer.text)
            exit(answer.statusCode == 200 ? 0 : 1)
        } catch {
            say("\(error)")
            exit(1)
        }
    }

    private static func say(_ line: String) {
        try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
    }
}
