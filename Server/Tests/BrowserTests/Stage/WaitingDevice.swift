import AsyncHTTPClient
import CounterfoilProtocol
import Foundation
import NIOCore
import NIOHTTP1
import TestSupport

/// The codes with which a device waits for its user (RFC 8628 §3.2).
struct WaitingDevice: Decodable {
    let deviceCode: String
    let userCode: String
    let complete: String

    private enum CodingKeys: String, CodingKey {
        case deviceCode = "device_code"
        case userCode = "user_code"
        case complete = "verification_uri_complete"
    }
}

extension Stage {
    /// Requests the codes of a device that uses a client, by default Lightbox.
    func waitingDevice(
        _ clientID: String? = nil, scope: String = "openid photos.read photos.write"
    ) async throws -> WaitingDevice {
        let form = FormParameters(["client_id": clientID ?? lightbox, "scope": scope])
        return try JSONDecoder().decode(
            WaitingDevice.self, from: try await post(form, to: "/oauth2/device_authorization"))
    }

    /// Waits until a user has denied the request of a device.
    func waitForDenial(of device: WaitingDevice) async throws {
        let form = FormParameters([
            "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "client_id": lightbox,
            "device_code": device.deviceCode,
        ])
        try await browser.waitFor("the denial") {
            String(decoding: try await post(form, to: "/oauth2/token"), as: UTF8.self).contains("access_denied")
        }
    }

    private func post(_ form: FormParameters, to path: String) async throws -> Data {
        var request = HTTPClientRequest(url: site.issuer + path)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        request.headers.add(name: "user-agent", value: "TV/1.0 (Linux)")
        request.body = .bytes(Array(form.encoded.utf8))
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let bytes = try await response.body.collect(upTo: 1 << 16)
        return Data(bytes.readableBytesView)
    }
}
