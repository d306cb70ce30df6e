using Ida.Packages.Tests;

[assembly: AssemblyFixture(typeof(Packages))]
