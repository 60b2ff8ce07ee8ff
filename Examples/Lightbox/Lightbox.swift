import CounterfoilClient
import Foundation

/// A minimal native app, which signs the user in and lists their photos of the photo library API.
///
///     lightbox http://127.0.0.1:8080 CLIENT_ID http://127.0.0.1:8081
@main
struct Lightbox {
    private struct Album: Decodable {
        struct Photo: Decodable {
            let title: String
        }
        let photos: [Photo]
    }

    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 3, let issuer = arguments.first, let api = arguments.last else {
            say("Usage: lightbox ISSUER CLIENT_ID API")
            exit(64)
        }
        do {
            let signIn = try NativeSignIn(
                issuer: issuer, clientID: arguments[arguments.startIndex + 1], scope: "openid photos.read",
                apiOrigins: [api])
            let credentials = try await signIn.run { event in
                if case .opening(let url) = event { say("Open: \(url)") }
            }
            let answer = try await ResourceClient(credentials).get("\(api)/photos")
            guard answer.statusCode == 200 else {
                say("The photo library responded with status \(answer.statusCode).")
                exit(3)
            }
            let album = try JSONDecoder().decode(Album.self, from: Data(answer.body))
            for photo in album.photos { print("· \(photo.title)") }
        } catch let error as SignInError {
            say("\(error)")
            exit(1)
        }
    }

    private static func say(_ line: String) {
        try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
    }
}
