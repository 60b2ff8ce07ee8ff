import CounterfoilServer
import CounterfoilStore
import Testing

@testable import counterfoil_server

/// The environment variables of traces.
struct TraceSettingsTests {
    private static let endpoint = ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"]

    private static func settings(_ more: [String: String] = [:]) throws -> TraceSettings? {
        try TraceSettings(TraceVariables(endpoint.merging(more) { _, given in given }))
    }

    @Test(
        arguments: [
            [:], ["OTEL_EXPORTER_OTLP_ENDPOINT": ""],
            ["OTEL_SERVICE_NAME": "a", "OTEL_TRACES_EXPORTER": "otlp"],
            ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318", "OTEL_SDK_DISABLED": "TRUE"],
            ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318", "OTEL_TRACES_EXPORTER": "none"],
        ] as [[String: String]])
    func `without an endpoint, or switched off, there are no traces`(environment: [String: String]) throws {
        #expect(try TraceSettings(TraceVariables(environment)) == nil)
    }

    @Test func `the defaults are those of the standard, but one trace in a hundred, and a post each second`() throws {
        let settings = try #require(try Self.settings())
        #expect(settings.endpoint == "http://localhost:4318/v1/traces")
        #expect(settings.sampler == TraceSampler(ratio: 0.01, followsParent: true))
        #expect(settings.headers.isEmpty)
        #expect(settings.timeout == .seconds(10))
        #expect(settings.delay == .seconds(1))
        #expect(settings.queueLimit == 2048)
        #expect(settings.batchLimit == 512)
        #expect(settings.serviceName == "counterfoil-server")
        #expect(Set(settings.resource.keys) == ["service.version", "service.instance.id"])
    }

    @Test func `a variable for traces goes before the one for all signals`() throws {
        let settings = try #require(
            try Self.settings([
                "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://collector.example.com/api",
                "OTEL_EXPORTER_OTLP_HEADERS": "a=1", "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "x-key=a%2Cb, other = c",
                "OTEL_RESOURCE_ATTRIBUTES": "service.name=one,host.name=h%20h", "OTEL_SERVICE_NAME": "two",
            ]))
        #expect(settings.endpoint == "https://collector.example.com/api")
        #expect(settings.headers.map(\.name) == ["x-key", "other"])
        #expect(settings.headers.map(\.value) == ["a,b", "c"])
        #expect(settings.serviceName == "two")
        #expect(settings.resource["host.name"] == "h h")
    }

    @Test(
        arguments: [
            ("always_on", nil, 1, false), ("always_off", nil, 0, false), ("parentbased_always_on", "0.5", 1, true),
            ("parentbased_always_off", nil, 0, true), ("traceidratio", "0.25", 0.25, false),
            ("parentbased_traceidratio", nil, 1, true), (nil, "0.1", 0.1, true),
        ] as [(String?, String?, Double, Bool)])
    func `the standard samplers are known`(
        name: String?, argument: String?, ratio: Double, followsParent: Bool
    ) throws {
        var variables: [String: String] = [:]
        variables["OTEL_TRACES_SAMPLER"] = name
        variables["OTEL_TRACES_SAMPLER_ARG"] = argument
        let settings = try #require(try Self.settings(variables))
        #expect(settings.sampler == TraceSampler(ratio: ratio, followsParent: followsParent))
    }

    // The library would end the process for some of these, and log the value of others.
    @Test(arguments: [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318"), ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "ftp://collector/secret"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://secret@collector"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://collector/?key=secret"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "secret"), ("OTEL_EXPORTER_OTLP_HEADERS", "=secret"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "a=secret%0Ab"), ("OTEL_EXPORTER_OTLP_HEADERS", "a b=secret"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s"), ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", "/nonexistent"), ("OTEL_TRACES_SAMPLER", "xray"),
        ("OTEL_TRACES_SAMPLER_ARG", "1.5"), ("OTEL_TRACES_EXPORTER", "jaeger"), ("OTEL_SDK_DISABLED", "maybe"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "0"), ("OTEL_BSP_SCHEDULE_DELAY", "-1"),
        ("OTEL_RESOURCE_ATTRIBUTES", "host.name"),
    ])
    func `a mistake is an error that names the variable, and no secret`(name: String, value: String) throws {
        let refusal = #expect(throws: TraceVariables.Refusal.self) { try Self.settings([name: value]) }
        let text = try #require(refusal?.description)
        #expect(text.hasPrefix("\(name) "))
        #expect(!text.contains("secret"))
    }
}
