import CounterfoilProtocol
import Foundation
import Testing
import WebAuthn

/// The JSON between the server and its pages (WebAuthn §5.1).
struct PageJSONTests {
    private func json(_ bytes: [UInt8]) throws -> NSDictionary {
        try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? NSDictionary)
    }

    // WebAuthn §5.1.8.
    @Test func `creation options ask for a passkey and for no attestation`() throws {
        let id = try #require(CredentialID([1, 2, 3]))
        var options = CreationOptions(
            relyingPartyID: "id.example.com", relyingPartyName: "Example \"ID\"",
            user: .init(handle: TestAuthenticator.user, name: "ada", displayName: "Ada"),
            challenge: TestAuthenticator.challenge)
        options.excludedCredentials = [
            CredentialDescriptor(id: id, transports: ["usb", "x-new"].compactMap(AuthenticatorTransport.init)),
            CredentialDescriptor(id: id),
        ]
        options.hints = [.securityKey, .hybrid]
        options.timeout = 300_000
        let expected: NSDictionary = [
            "rp": ["id": "id.example.com", "name": "Example \"ID\""],
            "user": ["id": "dXNlci0x", "name": "ada", "displayName": "Ada"],
            "challenge": Base64URL.encode(TestAuthenticator.challenge.bytes),
            "pubKeyCredParams": [-7, -8, -35, -257].map { ["type": "public-key", "alg": $0] as [String: Any] },
            "timeout": 300_000,
            "excludeCredentials": [
                ["type": "public-key", "id": "AQID", "transports": ["usb", "x-new"]],
                ["type": "public-key", "id": "AQID"],
            ],
            "authenticatorSelection": [
                "residentKey": "required", "requireResidentKey": true, "userVerification": "required",
            ],
            "hints": ["security-key", "hybrid"], "attestation": "none",
        ]
        #expect(try json(options.json) == expected)
    }

    // WebAuthn §5.1.9.
    @Test func `request options name the challenge and the RP ID`() throws {
        var options = RequestOptions(relyingPartyID: "id.example.com", challenge: TestAuthenticator.challenge)
        options.userVerification = .preferred
        let expected: NSDictionary = [
            "challenge": Base64URL.encode(TestAuthenticator.challenge.bytes), "rpId": "id.example.com",
            "allowCredentials": [], "userVerification": "preferred", "hints": [],
        ]
        #expect(try json(options.json) == expected)
    }

    private static let registration = [
        "id": "\"AQID\"", "rawId": "\"AQID\"", "type": "\"public-key\"", "clientExtensionResults": "{}",
        "response": #"{"clientDataJSON":"e30","attestationObject":"oA","transports":["usb","Odd One"]}"#,
    ]
    private static let authentication = [
        "id": "\"AQID\"", "rawId": "\"AQID\"", "type": "\"public-key\"", "clientExtensionResults": "{}",
        "response": #"{"clientDataJSON":"e30","authenticatorData":"AA","signature":"AA","userHandle":"dQ"}"#,
    ]

    private func text(_ members: [String: String]) -> [UInt8] {
        Array("{\(members.map { "\"\($0)\":\($1)" }.joined(separator: ","))}".utf8)
    }

    private func reason(_ changes: [String: String?], registration: Bool = true) -> CeremonyRefusal.Reason? {
        var members = registration ? Self.registration : Self.authentication
        for (name, value) in changes { members[name] = value }
        let refused = refusal {
            if registration {
                _ = try RegistrationResponse(json: text(members))
            } else {
                _ = try AuthenticationResponse(json: text(members))
            }
        }
        #expect(refused == nil || refused?.step == 3)
        return refused?.reason
    }

    // WebAuthn §5.1, RegistrationResponseJSON and AuthenticationResponseJSON.
    @Test func `responses are read as toJSON writes them`() throws {
        let registration = try RegistrationResponse(json: text(Self.registration))
        #expect(registration.credentialID.bytes == [1, 2, 3])
        #expect(registration.transports.map(\.rawValue) == ["usb"])
        let authentication = try AuthenticationResponse(json: text(Self.authentication))
        #expect(authentication.credentialID.bytes == [1, 2, 3] && authentication.userHandle?.bytes == [0x75])
        #expect(reason(["response": #"{"clientDataJSON":"e30","attestationObject":"oA"}"#]) == nil)
        for handle in ["null", "\"\""] {
            let response =
                #"{"clientDataJSON":"e30","authenticatorData":"AA","signature":"AA","userHandle":\#(handle)}"#
            let members = Self.authentication.merging(["response": response]) { $1 }
            #expect(try AuthenticationResponse(json: text(members)).userHandle == nil)
        }
    }

    @Test func `a malformed response is refused`() {
        #expect(reason(["type": "\"password\""]) == .response("type"))
        #expect(reason(["type": nil]) == .response("type"))
        for id in ["\"\"", "\"AQI=\"", "\"AQIDB\"", "\"AR\"", "\"AQ+D\"", "1", "null"] {
            #expect(reason(["rawId": id, "id": id]) == .response("rawId"))
        }
        #expect(reason(["id": "\"AQIE\""]) == .response("id"))
        // The Kelvin sign and K are equal texts in Swift.
        #expect(reason(["rawId": "\"AKID\"", "id": "\"A\u{212A}ID\""]) == .response("id"))
        #expect(reason(["rawId": "\"AKID\"", "id": "\"AKID\""]) == nil)
        #expect(reason(["response": "[]"]) == .response("response"))
        #expect(reason(["response": "{}"]) == .response("clientDataJSON"))
        #expect(reason(["response": #"{"clientDataJSON":"e30"}"#]) == .response("attestationObject"))
        #expect(reason(["response": #"{"clientDataJSON":"","attestationObject":"oA"}"#]) == .response("clientDataJSON"))
        #expect(reason(["response": #"{"clientDataJSON":"e30","clientDataJSON":"e30"}"#]) == .response("JSON"))
        #expect(
            reason(["response": #"{"clientDataJSON":"e30","attestationObject":"oA","transports":[1]}"#])
                == .response("transports"))
        #expect(reason(["response": "{}"], registration: false) == .response("clientDataJSON"))
        #expect(
            reason(
                ["response": #"{"clientDataJSON":"e30","authenticatorData":"AA","signature":"AA","userHandle":1}"#],
                registration: false) == .response("userHandle"))
    }

    @Test func `a response or a member that is too long is refused`() {
        func text(_ count: Int) -> String { Base64URL.encode([UInt8](repeating: 0, count: count)) }
        func object(_ count: Int) -> String { #"{"clientDataJSON":"e30","attestationObject":"\#(text(count))"}"# }
        #expect(reason(["response": object(RegistrationResponse.attestationObjectLimit)]) == nil)
        #expect(
            reason(["response": object(RegistrationResponse.attestationObjectLimit + 1)])
                == .response("attestationObject"))
        #expect(reason(["padding": "\"\(String(repeating: "a", count: 65_536))\""]) == .response("JSON"))
        let handle = text(65)
        #expect(
            reason(
                [
                    "response":
                        #"{"clientDataJSON":"e30","authenticatorData":"AA","signature":"AA","userHandle":"\#(handle)"}"#
                ],
                registration: false) == .response("userHandle"))
    }

    @Test func `identifiers have their limits`() {
        #expect(CredentialID([]) == nil && CredentialID(Array(repeating: 0, count: 1024)) == nil)
        #expect(UserHandle([]) == nil && UserHandle(Array(repeating: 0, count: 65)) == nil)
        #expect(Challenge(Array(repeating: 0, count: 15)) == nil)
        #expect(Challenge().bytes.count == 32 && Challenge() != Challenge())
    }

    // WebAuthn §6.5.1.
    @Test func `well-known authenticators have names`() throws {
        let bytes: [UInt8] = [
            0xFD, 0xB1, 0x41, 0xB2, 0x5D, 0x84, 0x44, 0x3E, 0x8A, 0x35, 0x46, 0x98, 0xC2, 0x05, 0xA5, 0x02,
        ]
        let aaguid = try #require(AAGUID(bytes))
        #expect(aaguid.description == "fdb141b2-5d84-443e-8a35-4698c205a502")
        #expect(aaguid.authenticatorName == "KeePassXC")
        #expect(AAGUID.unknown.authenticatorName == nil && AAGUID(bytes.dropLast()) == nil)
    }
}
