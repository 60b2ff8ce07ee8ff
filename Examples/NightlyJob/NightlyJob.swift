import CounterfoilClient
import Foundation

/// A minimal server job, which authenticates with a private key and calls an API without a user.
///
///     nightly-job http://127.0.0.1:8080 CLIENT_ID /etc/nightly-job/key.pem http://127.0.0.1:8081/photos
@main
struct NightlyJob {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 4 else {
            say("Usage: nightly-job ISSUER CLIENT_ID KEY_FILE URL")
            exit(64)
        }
        let (issuer, clientID, file, url) = (arguments[1], arguments[2], arguments[3], arguments[4])
        do {
            let key = try ClientKey(contentsOf: URL(fileURLWithPath: file))
            var signIn = try ServiceSignIn(
                issuer: issuer, clientID: clientID, authentication: .privateKey(key), scope: "photos.read")
            signIn.apiOrigins = [APIOrigin(of: try EndpointURL(url))]
            let answer = try await ServiceSession(signIn).get(url)
            print("\(url) responded with status \(answer.statusCode).")
            exit(answer.statusCode == 200 ? 0 : 1)
        } catch SignInError.unavailable(let failure) {
            // EX_TEMPFAIL of sysexits: the next run may succeed.
            say("\(failure)")
            exit(75)
        } catch {
            say("\(error)")
            exit(1)
        }
    }

    private static func say(_ line: String) {
        try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
    }
}
